def lesson_pages(): return {}
