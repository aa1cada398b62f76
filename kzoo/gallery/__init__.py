"""The gallery: presets that run in the browser, drawn step by step, as a folder of static files."""

from kzoo.gallery.build import gallery_data, write_gallery

__all__ = ["gallery_data", "write_gallery"]
