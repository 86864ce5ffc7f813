"""Does a translation say what its source says, in the same shape?"""
