"""Git: repository, objects, history, and the commits that translations were made from."""
