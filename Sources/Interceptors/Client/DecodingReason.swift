internal import Foundation

/// The path and text of a decoder's error, made safe to print.
struct DecodingReason {
    let path: [any CodingKey]
    let text: String

    /// A larger body isn't searched for secrets; it counts as containing some.
    private static let inspectedBytes = 256 << 10
    private static let longestText = 300

    init(_ error: (any Error)?, body: Data, isJSON: Bool) {
        let context = (error as? DecodingError)?.context
        path = context?.codingPath ?? []
        var text = Self.ownWords(for: error)
        if !Self.mayHoldSecret(body) {
            if isJSON, path.isEmpty, case .dataCorrupted? = error as? DecodingError {
                text = Self.syntaxError(in: body)
            } else if case .keyNotFound? = error as? DecodingError {
                // `text` already names the key. The decoder's own text would print the key's type too.
            } else if let context {
                text = context.debugDescription
            } else if let error {
                text = String(describing: error)
            }
        }
        self.text = Self.shortened(text)
    }

    /// The path as text, such as ` at friends[3].name`. Empty if the failure concerns the whole content.
    var place: String {
        guard !path.isEmpty else { return "" }
        var keys = ""
        for key in path {
            if let index = key.intValue, key.stringValue == "Index \(index)" {
                keys += "[\(index)]"
            } else {
                keys += keys.isEmpty ? key.stringValue : ".\(key.stringValue)"
                // Keys below a sensitive name may be secrets themselves.
                if Redaction.standard.isSensitive(key.stringValue) { break }
            }
        }
        return " at \(Self.shortened(keys))"
    }

    // Counted in scalars, because a single character can be of any length.
    private static func shortened(_ text: String) -> String {
        let start = text.unicodeScalars.prefix(longestText)
        return start.endIndex == text.endIndex ? text : String(start) + "…"
    }

    /// Whether redaction would change anything in the body.
    private static func mayHoldSecret(_ body: Data) -> Bool {
        guard body.count <= inspectedBytes, let text = String(validating: body, as: UTF8.self) else { return true }
        return Redaction.standard.text(text) != text
    }

    // These texts never quote the content.
    private static func ownWords(for error: (any Error)?) -> String {
        switch error as? DecodingError {
        case .typeMismatch(let type, _): "the value is not a \(type)."
        case .valueNotFound(let type, _): "there is no value where a \(type) must be."
        case .keyNotFound(let key, _): "the key \(key.stringValue) is missing."
        case .dataCorrupted(let context) where context.codingPath.isEmpty: "the content is not in the decoder's format."
        case .dataCorrupted: "the value is not one that its type allows."
        default: "the decoder threw \(error.map { "\(Swift.type(of: $0))" } ?? "nothing")."
        }
    }

    // Foundation's decoder doesn't locate a syntax error, and reports a number that doesn't fit its type as invalid JSON.
    private static func syntaxError(in body: Data) -> String {
        do {
            _ = try JSONSerialization.jsonObject(with: body, options: .fragmentsAllowed)
            return "the content is JSON, but a value in it does not fit its type, such as a fraction for an Int."
        } catch {
            let detail = (error as NSError).userInfo["NSDebugDescription"] as? String
            return "the content is not valid JSON. \(detail ?? "")"
        }
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
