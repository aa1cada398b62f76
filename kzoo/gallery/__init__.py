"""The gallery: presets that run in the browser, drawn step by step, as a folder of static files."""

from kzoo.gallery.build import exhibit_of, gallery_data, write_gallery

__all__ = ["exhibit_of", "gallery_data", "write_gallery"]
