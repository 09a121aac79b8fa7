internal import Foundation

/// The arguments of the program.
struct ServerArguments: Equatable {
    /// An argument that the program doesn't understand.
    struct Failure: Error {
        let message: String
    }

    var folder = ""
    var port = 8080
    var delay: Duration = .zero
    /// The share of requests that fail, from 0 to 1.
    var failureRate = 0.0
    var isHelp = false

    static let usage = """
        Usage: mockserver [options] FOLDER

        Answers HTTP requests on 127.0.0.1 from the files in a folder:
        GET/users/42.json answers GET /users/42, with the status and the fields in GET/users/42.json.head.
        New files are seen at the next start.

          --port PORT    the port, 8080 by default; 0 for a free one
          --delay TIME   the wait before each answer, such as 200ms or 1.5s
          --fail SHARE   the share of requests that get a 503, such as 10%
          --help         shows this text
          --             ends the options, before a folder whose name begins with a dash
        """

    init(_ arguments: [String]) throws(Failure) {
        var rest = arguments[...]
        var areOptionsRead = true
        while let argument = rest.popFirst() {
            if argument == "--", areOptionsRead {
                areOptionsRead = false
                continue
            }
            let isOption = areOptionsRead && argument.hasPrefix("-")
            let mark = isOption ? argument.firstIndex(of: "=") : nil
            let name = String(argument[..<(mark ?? argument.endIndex)])
            func value() throws(Failure) -> String {
                let value = mark.map { String(argument[argument.index(after: $0)...]) } ?? rest.popFirst() ?? ""
                guard !value.isEmpty else { throw Failure(message: "\(name) needs a value.") }
                return value
            }
            switch name {
            case _ where !isOption && folder.isEmpty: folder = argument
            case _ where !isOption:
                throw Failure(message: "There is more than one folder: \(folder) and \(argument).")
            case "--help", "-h": isHelp = true
            case "--port": port = try Self.port(value())
            case "--delay": delay = try Self.duration(value())
            case "--fail": failureRate = try Self.share(value())
            default: throw Failure(message: "\(name) is no option.")
            }
        }
        guard isHelp || !folder.isEmpty else { throw Failure(message: "The folder is missing.") }
    }

    private static func port(_ text: String) throws(Failure) -> Int {
        guard let port = Int(text), 0...65535 ~= port else {
            throw Failure(message: "--port is a number from 0 to 65535, not \(text).")
        }
        return port
    }

    private static func duration(_ text: String) throws(Failure) -> Duration {
        let units: [(ending: String, seconds: Double)] = [("ms", 0.001), ("s", 1)]
        for unit in units where text.hasSuffix(unit.ending) {
            guard let number = Double(text.dropLast(unit.ending.count)), 0...86_400 ~= number * unit.seconds else {
                break
            }
            return .seconds(number * unit.seconds)
        }
        throw Failure(message: "--delay is a time such as 200ms or 1.5s, not \(text).")
    }

    private static func share(_ text: String) throws(Failure) -> Double {
        guard text.hasSuffix("%"), let percent = Double(text.dropLast()), 0...100 ~= percent else {
            throw Failure(message: "--fail is a share such as 10%, not \(text).")
        }
        return percent / 100
    }
}
