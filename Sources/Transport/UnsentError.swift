/// The cause of a ``HTTPErrorCode/timedOut`` for a request whose deadline passed while it waited to be sent. Such an
/// error says nothing about the server.
package struct UnsentError: Error, CustomStringConvertible {
    /// The time that the request would still have had to wait, if known; otherwise zero.
    package let wait: Duration

    package init(wait: Duration) { self.wait = wait }

    package var description: String { "the request was not sent" }
}
