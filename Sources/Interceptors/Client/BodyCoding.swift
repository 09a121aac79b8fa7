public import Foundation

/// Turns a value into the content of a request. `JSONEncoder` is one.
///
/// ```swift
/// extension PropertyListEncoder: BodyEncoder {
///     public var mediaType: String { "application/x-plist" }
/// }
/// ```
public protocol BodyEncoder: Sendable {
    /// What it writes, for the field `Content-Type`.
    var mediaType: String { get }
    /// The value as bytes.
    func encode<Value: Encodable>(_ value: Value) throws -> Data
}

/// Turns the content of a response into a value. `JSONDecoder` is one.
public protocol BodyDecoder: Sendable {
    /// What it reads, for the field `Accept`.
    var mediaType: String { get }
    /// The value that the bytes stand for.
    func decode<Value: Decodable>(_ type: Value.Type, from body: Data) throws -> Value
}

extension JSONEncoder: BodyEncoder {
    /// `application/json`
    public var mediaType: String { "application/json" }
}

extension JSONDecoder: BodyDecoder {
    /// `application/json`
    public var mediaType: String { "application/json" }
}
