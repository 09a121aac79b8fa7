internal import Foundation

// `dump` and failed test expectations print a value's mirror. These mirrors show only redacted text, as the messages' mirrors
// do.

extension HTTPQuery: CustomReflectable {
    /// A mirror that shows only the redacted ``description``.
    public var customMirror: Mirror { Mirror(self, children: ["query": description], displayStyle: .struct) }
}

extension RequestTarget: CustomReflectable {
    /// A mirror that shows only the redacted ``description``.
    public var customMirror: Mirror { Mirror(self, children: ["text": description], displayStyle: .struct) }
}

extension Client: CustomReflectable {
    /// The base URL with secrets redacted, the interceptors and the transport.
    public var customMirror: Mirror {
        let base = baseURL.map { Redaction.standard.string(for: $0) } ?? "none"
        let children: KeyValuePairs<String, Any> = [
            "baseURL": base, "interceptors": chain.interceptors, "transport": chain.transport,
        ]
        return Mirror(self, children: children, displayStyle: .struct)
    }
}
