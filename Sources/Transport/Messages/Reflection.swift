// `dump`, and test frameworks that explain a failure, look into a value through its mirror: that shows no secret either.

extension HTTPRequest: CustomReflectable {
    /// The parts of the request, with secrets redacted and without the body's content.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "method": method.rawValue, "url": Redaction.standard.string(for: url),
                "headerFields": headerFields, "body": body, "context": context,
            ],
            displayStyle: .struct
        )
    }
}

extension HTTPResponse: CustomReflectable {
    /// The parts of the response, with secrets redacted and without the body's content.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "status": status, "url": url.map { Redaction.standard.string(for: $0) } ?? "nil",
                "headerFields": headerFields, "body": body, "context": context,
            ],
            displayStyle: .struct
        )
    }
}

extension HTTPField: CustomReflectable {
    /// The name and the value, redacted if it is sensitive.
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
    /// Nothing of the content.
    public var customMirror: Mirror { Mirror(self, children: [:], displayStyle: .struct) }
}

extension HTTPContext: CustomReflectable, CustomStringConvertible {
    /// How many values there are, but none of them: an identity or a token may be among them.
    public var description: String { count == 1 ? "1 value" : "\(count) values" }

    /// Nothing of the values.
    public var customMirror: Mirror { Mirror(self, children: [:], displayStyle: .struct) }
}
