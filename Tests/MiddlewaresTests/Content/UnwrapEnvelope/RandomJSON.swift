import InterceptorsTestSupport

/// Valid JSON that is hard to read: escapes, brackets and quotes in strings, equal names, odd whitespace.
enum RandomJSON {
    static func object(depth: Int, using generator: inout SeededGenerator) -> String {
        let members = (0..<Int.random(in: 0...6, using: &generator)).map { _ in
            let names = ["a", "a", "b", "b", "c", "a.b", "é", "\"", "\\", "", "日本"]
            let name = string(generator.oneOf(names), using: &generator)
            return "\(space(&generator))\(name)\(space(&generator)):\(value(depth: depth - 1, using: &generator))"
        }
        return "\(space(&generator)){\(members.isEmpty ? space(&generator) : members.joined(separator: ","))}"
    }

    private static func value(depth: Int, using generator: inout SeededGenerator) -> String {
        let kinds = depth > 0 ? 9 : 5
        let text =
            switch Int.random(in: 0..<kinds, using: &generator) {
            case 0: generator.oneOf(["0", "-0", "12", "-1.5", "1e3", "2E-2", "9007199254740993", "0.1e+1"])
            case 1: generator.oneOf(["true", "false", "null"])
            case 2, 3, 4: string(plainText(&generator), using: &generator)
            case 5, 6: array(depth: depth, using: &generator)
            default: object(depth: depth, using: &generator)
            }
        return "\(space(&generator))\(text)\(space(&generator))"
    }

    private static func array(depth: Int, using generator: inout SeededGenerator) -> String {
        let elements = (0..<Int.random(in: 0...5, using: &generator)).map { _ in
            value(depth: depth - 1, using: &generator)
        }
        return "[\(elements.joined(separator: ","))]"
    }

    private static func plainText(_ generator: inout SeededGenerator) -> String {
        let pieces = [
            "a", "}", "]", "{", "[", "\"", "\\", "\\\\", "/", ":", ",", "é", "日", "😀", "\n", "\t", " ", "y", "_",
        ]
        let count = Int.random(in: 0...Int.random(in: 0...90, using: &generator), using: &generator)
        return (0..<count).map { _ in generator.oneOf(pieces) }.joined()
    }

    private static func string(_ text: String, using generator: inout SeededGenerator) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            let mustEscape = scalar == "\"" || scalar == "\\" || scalar.value < 0x20
            guard mustEscape || Int.random(in: 0..<12, using: &generator) == 0 else {
                quoted.unicodeScalars.append(scalar)
                continue
            }
            if scalar == "\"" || scalar == "\\" || scalar == "/", Bool.random(using: &generator) {
                quoted += "\\\(scalar)"
            } else {
                for unit in String(scalar).utf16 {
                    let digits = String(unit, radix: 16, uppercase: Bool.random(using: &generator))
                    quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            }
        }
        return quoted + "\""
    }

    private static func space(_ generator: inout SeededGenerator) -> String {
        generator.oneOf(["", "", "", "", " ", "\n", "\r\n\t", "      "])
    }
}
