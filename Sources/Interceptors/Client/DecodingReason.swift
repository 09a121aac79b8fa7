internal import Foundation

/// What a decoder's error says, fit to be printed.
struct DecodingReason {
    let path: [any CodingKey]
    let text: String

    /// A body beyond this is not searched for secrets: it is taken to hold some.
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
                // The decoder's own text prints the key's type too.
            } else if let context {
                text = context.debugDescription
            } else if let error {
                text = String(describing: error)
            }
        }
        self.text = Self.shortened(text)
    }

    /// Where, as text: ` at friends[3].name`, or nothing for the whole.
    var place: String {
        guard !path.isEmpty else { return "" }
        var keys = ""
        for key in path {
            if let index = key.intValue, key.stringValue == "Index \(index)" {
                keys += "[\(index)]"
            } else {
                keys += keys.isEmpty ? key.stringValue : ".\(key.stringValue)"
                // The keys of a dictionary of secrets may be some themselves.
                if Redaction.standard.isSensitive(key.stringValue) { break }
            }
        }
        return " at \(Self.shortened(keys))"
    }

    // By scalars: a single character can be of any length.
    private static func shortened(_ text: String) -> String {
        let start = text.unicodeScalars.prefix(longestText)
        return start.endIndex == text.endIndex ? text : String(start) + "…"
    }

    /// Whether redaction would change anything in the body.
    private static func mayHoldSecret(_ body: Data) -> Bool {
        guard body.count <= inspectedBytes, let text = String(validating: body, as: UTF8.self) else { return true }
        return Redaction.standard.excerpt(of: body, limit: body.count) != text
    }

    // Never a word of the content.
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

    // Foundation's decoder doesn't say where the text breaks, and calls a number that doesn't fit its type bad JSON.
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
