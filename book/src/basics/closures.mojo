def main():
    # ANCHOR: closure
    var factor = 3

    def scale(x: Int) {var} -> Int:
        return factor * x

    factor = 100
    print(scale(14), factor)
    # ANCHOR_END: closure
