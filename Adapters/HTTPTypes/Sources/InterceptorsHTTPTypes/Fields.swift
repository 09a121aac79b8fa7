public import HTTPTypes
public import Interceptors

extension HTTPTypes.HTTPFields {
    /// Converts fields, with their order, duplicates and spelling.
    ///
    /// - Throws: ``TransportError`` with the code `invalidRequest` for a field that can't be sent, because its name
    ///   isn't a token or its value has a control character; or if there are more than 65,534 fields, which swift-http-types
    ///   can't hold.
    public init(_ fields: Interceptors.HTTPFields) throws {
        guard fields.count < Int(UInt16.max) else {
            throw TransportError(.invalidRequest, "swift-http-types can't hold \(fields.count) fields.")
        }
        self.init()
        reserveCapacity(fields.count)
        for field in fields { append(try HTTPTypes.HTTPField(field)) }
    }
}

extension HTTPTypes.HTTPField {
    /// Converts a field, with the spelling of its name.
    ///
    /// - Throws: ``TransportError`` with the code `invalidRequest` if the name isn't a token or the value has a control
    ///   character. swift-http-types would replace that character with a space.
    public init(_ field: Interceptors.HTTPField) throws {
        guard field.isValid, let name = HTTPTypes.HTTPField.Name(field.name.rawName),
            HTTPTypes.HTTPField.isValidValue(field.value)
        else { throw TransportError(.invalidRequest, "The field \(field) can't be sent (RFC 9110 §5).") }
        self.init(name: name, value: field.value)
    }
}

extension Interceptors.HTTPFields {
    /// Converts fields, with their order, duplicates and spelling.
    public init(_ fields: HTTPTypes.HTTPFields) { self.init(fields.lazy.map(Interceptors.HTTPField.init)) }
}

extension Interceptors.HTTPField {
    /// Converts a field, with the spelling of its name. A value that isn't UTF-8 is read as ISO 8859-1, as transports do.
    ///
    /// The strategy for indexing the field in HTTP/2 and HTTP/3 is lost.
    public init(_ field: HTTPTypes.HTTPField) {
        let value = field.withUnsafeBytesOfValue { bytes in
            String(validating: bytes, as: UTF8.self)
                ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        }
        self.init(unchecked: Interceptors.HTTPField.Name(stringLiteral: field.name.rawName), value)
    }
}
