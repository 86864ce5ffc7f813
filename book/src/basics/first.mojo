# ANCHOR: function
def halve(number: Int) raises -> Int:
    if number % 2 != 0:
        raise Error("cannot halve ", number)
    return number // 2


# ANCHOR_END: function


# ANCHOR: main
def main() raises:
    var total = 0
    for i in range(5):
        total += i
    print("0 + 1 + 2 + 3 + 4 =", total)
    print("half of it:", halve(total))
    try:
        print(halve(7))
    except error:
        print("error:", error)


# ANCHOR_END: main
