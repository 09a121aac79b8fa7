internal import Foundation

// `dump`, debuggers and failed test expectations print a value's mirror, not its description. These mirrors show neither
// secrets nor content.

extension HTTPField: CustomReflectable {
    /// The name, and the value with secrets redacted.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: ["name": name.rawName, "value": Redaction.standard.value(of: self)],
            displayStyle: .struct
        )
    }
}

extension HTTPBody: CustomReflectable {
    /// The kind and size of the body, never its content.
    public var customMirror: Mirror { Mirror(self, children: ["kind": description], displayStyle: .struct) }
}

extension HTTPRequest: CustomReflectable {
    /// All properties except the context, with secrets redacted.
    public var customMirror: Mirror {
        let children: KeyValuePairs<String, Any> = [
            "method": method.rawValue, "url": Redaction.standard.string(for: url), "headers": headers,
            "body": body,
        ]
        return Mirror(self, children: children, displayStyle: .struct)
    }
}

extension HTTPResponse: CustomReflectable {
    /// All properties except the context, with secrets redacted.
    public var customMirror: Mirror {
        let children: KeyValuePairs<String, Any> = [
            "status": status.code, "url": url.map { Redaction.standard.string(for: $0) } ?? "none",
            "headers": headers, "body": body,
        ]
        return Mirror(self, children: children, displayStyle: .struct)
    }
}

extension HTTPContext: CustomReflectable, CustomStringConvertible {
    /// The number of values. The values themselves aren't printed, because an identity or a token may be among them.
    public var description: String { count == 1 ? "1 value" : "\(count) values" }

    /// An empty mirror, which shows no values.
    public var customMirror: Mirror { Mirror(self, children: [:], displayStyle: .struct) }
}
