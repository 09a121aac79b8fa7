internal import Foundation

// As with the messages, what `dump` or a failed expectation of a test prints goes by the mirror: no secret is shown by
// accident here either.

extension HTTPQuery: CustomReflectable {
    /// Only what is printed.
    public var customMirror: Mirror { Mirror(self, children: ["query": description], displayStyle: .struct) }
}

extension RequestTarget: CustomReflectable {
    /// Only what is printed.
    public var customMirror: Mirror { Mirror(self, children: ["text": description], displayStyle: .struct) }
}

extension Client: CustomReflectable {
    /// The base URL with secrets redacted, and what requests go through.
    public var customMirror: Mirror {
        let base = baseURL.map { Redaction.standard.string(for: $0) } ?? "none"
        let children: KeyValuePairs<String, Any> = [
            "baseURL": base, "interceptors": chain.interceptors, "transport": chain.transport,
        ]
        return Mirror(self, children: children, displayStyle: .struct)
    }
}
