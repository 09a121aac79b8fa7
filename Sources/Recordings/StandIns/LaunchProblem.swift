internal import Foundation
internal import InterceptorsCore

/// The reason for which launch arguments can't be used, in a sentence that quotes no answer.
struct LaunchProblem: Error, Equatable {
    let text: String

    static func unknownName(_ name: String, _ known: [String]) -> Self {
        let table = known.isEmpty ? "The app has no table: pass `defaults:`." : "The table has: \(list(known))."
        return Self(text: "\(list([name])) isn't in the app's table of stubs. \(table)")
    }

    static func undecodable(_ error: any Error) -> Self {
        Self(text: "The stubs can't be decoded\(DecodingPlace.text(of: error))")
    }

    static func unreadable(_ path: String) -> Self {
        let text =
            "The file \(short(path)) can't be read: it is missing, unreadable for this app, not UTF-8, or over 64 MiB."
        return Self(text: text)
    }

    static func unknownFlag(_ flag: String) -> Self {
        let known = "\(LaunchArguments.flag)… and \(LaunchArguments.fileFlag)…"
        return Self(text: "The argument \(short(flag)) is unknown. The arguments about stubs are \(known).")
    }

    static func malformedPart(_ mark: String) -> Self {
        Self(text: "An argument begins with \(short(mark)) in place of a list in brackets or a mark such as 1/3.")
    }

    static func missingPart(_ number: Int, _ total: Int) -> Self {
        Self(text: "Part \(number) of \(total) is missing or out of order.")
    }

    private static func list(_ names: [String]) -> String { short(names.map { "\"\($0)\"" }.joined(separator: ", ")) }
    private static func short(_ text: String) -> String { DecodingPlace.short(text) }
}

/// The place and the reason of a decoder's error, made safe to print.
enum DecodingPlace {
    private static let longestText = 300

    /// A text such as ` at [2].status: a status has three digits.`
    static func text(of error: any Error) -> String {
        guard let error = error as? DecodingError, let context = error.context else { return "." }
        let path = context.codingPath.isEmpty ? "" : " at \(short(path(context.codingPath)))"
        if case .keyNotFound(let key, _) = error { return "\(path): \(key.stringValue) is missing." }
        let detail = (context.underlyingError as NSError?)?.userInfo["NSDebugDescription"] as? String
        return "\(path): \(short([context.debugDescription, detail].compactMap(\.self).joined(separator: " ")))"
    }

    private static func path(_ keys: [any CodingKey]) -> String {
        keys.reduce(into: "") { text, key in
            if let index = key.intValue {
                text += "[\(index)]"
            } else {
                text += text.isEmpty ? key.stringValue : ".\(key.stringValue)"
            }
        }
    }

    // Counted in scalars, because a single character can be of any length.
    static func short(_ text: String) -> String {
        let start = text.unicodeScalars.prefix(longestText)
        return PrintableText.line(start.endIndex == text.endIndex ? text : String(start) + "…")
    }
}

extension DecodingError {
    fileprivate var context: Context? {
        switch self {
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
            .dataCorrupted(let context):
            context
        @unknown default: nil
        }
    }
}

extension HTTPErrorCode {
    /// `TransportError`: the stubs in an app's launch arguments can't be used, so that no request is answered or sent.
    public static let invalidLaunchStubs = Self(rawValue: "invalidLaunchStubs")
    /// `TransportError`: stubs for an app under test are longer than launch arguments may be.
    public static let launchStubsTooLong = Self(rawValue: "launchStubsTooLong")
}
