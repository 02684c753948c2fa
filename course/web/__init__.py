"""The course in a browser: a page, and a server that runs one app for each tab that shows it."""
