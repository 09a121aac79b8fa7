public import Foundation

/// A value to interpolate into a ``RequestTarget`` or to pass to an ``HTTPQuery``.
///
/// Text, numbers, `Bool` (`true` and `false`) and `UUID` conform. Your own types conform through their raw value or their
/// printed text:
///
/// ```swift
/// enum Order: String, URLValue { case newest, oldest }
///
/// struct UserID: URLValue {
///     let number: Int
///     var urlText: String { "u\(number)" }
/// }
/// ```
/// `Date` doesn't conform, because APIs write dates differently. Choose the format: `date.formatted(.iso8601)`.
public protocol URLValue: HTTPQueryValue {
    /// The value as text, not percent-encoded.
    var urlText: String { get }
}

extension URLValue {
    /// Adds the value's text.
    public func append(to query: inout HTTPQuery, as name: String) { query.append(name, [urlText], isList: false) }
}

extension URLValue where Self: LosslessStringConvertible {
    /// The value's description, independent of the locale.
    public var urlText: String { String(self) }
}

extension URLValue where Self: RawRepresentable, RawValue: URLValue {
    /// The raw value's text.
    public var urlText: String { rawValue.urlText }
}

extension String: URLValue {}
extension Substring: URLValue {}
extension Bool: URLValue {}
extension Int: URLValue {}
extension Int8: URLValue {}
extension Int16: URLValue {}
extension Int32: URLValue {}
extension Int64: URLValue {}
extension UInt: URLValue {}
extension UInt8: URLValue {}
extension UInt16: URLValue {}
extension UInt32: URLValue {}
extension UInt64: URLValue {}
extension Float: URLValue {}
extension Double: URLValue {}

extension Decimal: URLValue {
    /// The number with a decimal point, independent of the locale.
    public var urlText: String { description }
}

extension UUID: URLValue {
    /// The UUID's 36 characters, in upper case.
    public var urlText: String { uuidString }
}
