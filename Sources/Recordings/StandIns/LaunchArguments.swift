internal import Foundation
internal import InterceptorsCore

/// The form of stubs in launch arguments.
///
/// Each argument is complete, or a numbered part: `--interceptors-stubs=2/3:…`. The text is JSON in ASCII, because a system
/// may change the Unicode form of an argument.
enum LaunchArguments {
    static let flag = "--interceptors-stubs="
    static let fileFlag = "--interceptors-stubs-file="
    /// No other argument begins so: a misspelled flag must not reach the network.
    private static let prefix = "--interceptors-stub"
    /// In bytes. Linux allows 128 KiB for one argument, with the flag and a final NUL.
    static let partLimit = 96 << 10
    /// In bytes. macOS allows 1 MiB for all arguments and the environment.
    static let totalLimit = 512 << 10
    /// In bytes, of a file.
    static let fileLimit = 64 << 20

    static func json(_ stubs: LaunchStubs) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(stubs)
    }

    static func arguments(for stubs: LaunchStubs) throws -> [String] {
        let text = ascii(try json(stubs))
        guard text.count <= totalLimit else {
            throw TransportError(
                .launchStubsTooLong,
                "The stubs take \(text.count) bytes, and launch arguments hold \(totalLimit). Keep long answers in files of their"
                    + " own, .file(…), name stubs of the app's table, or call launchArguments(file:) with a file that the app"
                    + " can read."
            )
        }
        let starts = Array(stride(from: 0, to: text.count, by: partLimit))
        return starts.enumerated().map { index, start in
            let part = String(decoding: text[start..<min(start + partLimit, text.count)], as: UTF8.self)
            return flag + (starts.count > 1 ? "\(index + 1)/\(starts.count):" : "") + part
        }
    }

    /// JSON text with every other character escaped. Only strings contain any.
    private static func ascii(_ json: Data) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(json.count)
        for scalar in String(decoding: json, as: UTF8.self).unicodeScalars {
            if scalar.value < 0x7F {
                bytes.append(UInt8(scalar.value))
            } else {
                for unit in String(scalar).utf16 {
                    let digits = String(unit, radix: 16)
                    bytes += "\\u".utf8
                    bytes += repeatElement(UInt8(ascii: "0"), count: 4 - digits.utf8.count)
                    bytes += digits.utf8
                }
            }
        }
        return bytes
    }
}

extension LaunchArguments {
    /// The stubs in the arguments; `nil` if none of the arguments is about stubs.
    static func stubs(in arguments: [String]) throws(LaunchProblem) -> LaunchStubs? {
        var all: LaunchStubs?
        var parts = LaunchParts()
        for argument in arguments {
            let text: String?
            if argument.hasPrefix(flag) {
                text = try parts.add(argument.dropFirst(flag.count))
            } else if argument.hasPrefix(fileFlag) {
                text = try contents(of: String(argument.dropFirst(fileFlag.count)))
            } else if argument.hasPrefix(prefix) {
                throw .unknownFlag(String(argument.prefix { $0 != "=" }))
            } else {
                continue
            }
            var stubs = all ?? LaunchStubs()
            if let text {
                let more = try decode(text)
                stubs.names += more.names
                stubs.stubs += more.stubs
            }
            all = stubs
        }
        try parts.end()
        return all
    }

    private static func decode(_ text: String) throws(LaunchProblem) -> LaunchStubs {
        do { return try JSONDecoder().decode(LaunchStubs.self, from: Data(text.utf8)) } catch {
            throw .undecodable(error)
        }
    }

    private static func contents(of path: String) throws(LaunchProblem) -> String {
        let file = URL(filePath: path).resolvingSymlinksInPath()
        // Reading a FIFO would block.
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: file.path),
            attributes[.type] as? FileAttributeType == .typeRegular,
            let size = attributes[.size] as? NSNumber, size.intValue <= fileLimit,
            let bytes = try? Data(contentsOf: file), let text = String(validating: bytes, as: UTF8.self)
        else { throw .unreadable(path) }
        return text
    }
}

/// The numbered parts of a text, in the order of the arguments.
private struct LaunchParts {
    private var text = ""
    /// The number of the last part, and of all parts; `nil` between texts.
    private var last: (number: Int, total: Int)?

    /// Adds an argument. Returns the text if it is complete.
    mutating func add(_ argument: Substring) throws(LaunchProblem) -> String? {
        guard argument.first?.isNumber == true else {
            try end()
            return String(argument)
        }
        let mark = argument.prefix(24).split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let numbers = mark[0].split(separator: "/").map { Int($0) }
        guard mark.count == 2, numbers.count == 2, let number = numbers[0], let total = numbers[1], number <= total
        else {
            throw .malformedPart(String(mark[0]))
        }
        let expected = (last?.number ?? 0) + 1
        guard number == expected, last == nil || last?.total == total else {
            throw .missingPart(expected, last?.total ?? total)
        }
        text += argument[mark[1].startIndex...]
        last = number == total ? nil : (number, total)
        guard last == nil else { return nil }
        defer { text = "" }
        return text
    }

    /// Throws unless all parts of each text have come.
    func end() throws(LaunchProblem) {
        if let last { throw .missingPart(last.number + 1, last.total) }
    }
}
