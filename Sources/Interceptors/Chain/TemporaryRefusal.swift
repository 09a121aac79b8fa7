/// An error of an interceptor that refused to send a request for now, such as an open circuit.
package protocol TemporaryRefusal: Error {
    /// The longest time until a request may be sent; `nil` if the time isn't known.
    var wait: Duration? { get }
}
