/// The kind of a failure: the ``HTTPError/code`` of an error. An open set: handle the codes you know, and keep a default.
///
/// Errors of different types that fail for the same reason have the same code. No two reasons share a code, so a code alone says
/// what happened:
///
/// ```swift
/// do {
///     try await api.delete("/users/42")
/// } catch let error as any HTTPError where error.code == .timedOut {
///     showAsOutdated()
/// }
/// ```
/// Each code is declared beside its error, and its documentation names the errors that have it. Declare codes for your own errors
/// the same way:
///
/// ```swift
/// extension HTTPErrorCode {
///     static let soldOut = Self(rawValue: "soldOut")
/// }
/// ```
/// If an existing code fits, use it: the default conditions of `retry`, `circuitBreaker` and `cache` treat a ``timedOut`` of
/// your error like one of a transport.
public struct HTTPErrorCode: OpenSet {
    /// The name of the code, such as `timedOut`.
    public let rawValue: String
    /// Creates a code from its name.
    public init(rawValue: String) { self.rawValue = rawValue }
}
