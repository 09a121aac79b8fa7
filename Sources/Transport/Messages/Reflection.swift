internal import Foundation

// What `dump`, a debugger's variables or a failed expectation of a test print goes by the mirror, not by the description:
// here too a secret is not shown by accident, nor is content.

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

extension HTTPFields: CustomReflectable {
    /// The fields in their order.
    public var customMirror: Mirror { Mirror(self, unlabeledChildren: Array(self), displayStyle: .collection) }
}

extension HTTPBody: CustomReflectable {
    /// What kind of body it is, never its content.
    public var customMirror: Mirror { Mirror(self, children: ["kind": description], displayStyle: .struct) }
}

extension HTTPRequest: CustomReflectable {
    /// All but the context, with secrets redacted.
    public var customMirror: Mirror {
        let children: KeyValuePairs<String, Any> = [
            "method": method.rawValue, "url": Redaction.standard.string(for: url), "headerFields": headerFields,
            "body": body,
        ]
        return Mirror(self, children: children, displayStyle: .struct)
    }
}

extension HTTPResponse: CustomReflectable {
    /// All but the context, with secrets redacted.
    public var customMirror: Mirror {
        let children: KeyValuePairs<String, Any> = [
            "status": status.code, "url": url.map { Redaction.standard.string(for: $0) } ?? "none",
            "headerFields": headerFields, "body": body,
        ]
        return Mirror(self, children: children, displayStyle: .struct)
    }
}

extension HTTPContext: CustomReflectable, CustomStringConvertible {
    /// How many values there are, but none of them: an identity or a token may be among them.
    public var description: String { count == 1 ? "1 value" : "\(count) values" }

    /// Nothing of the values.
    public var customMirror: Mirror { Mirror(self, children: [:], displayStyle: .struct) }
}
