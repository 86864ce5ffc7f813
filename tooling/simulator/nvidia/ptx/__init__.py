"""PTX text to code and back."""
