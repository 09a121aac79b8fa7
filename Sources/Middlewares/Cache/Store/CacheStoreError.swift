/// Why a store couldn't keep or find an entry. The cache reports the error, and asks the server instead. Only a file that fails
/// while a stored response is streamed ends a call with this error.
public struct CacheStoreError: HTTPError {
    /// The kind of the error.
    public let code: HTTPErrorCode
    /// A message for a person, without secrets.
    public let message: String
    /// Details about the failed call, such as its attempts.
    public var context = HTTPContext()
    /// `nil`: the error is about a store, not a request.
    public var request: HTTPRequest.Summary? { nil }
    /// `nil`: no response caused the error.
    public var response: HTTPResponse? { nil }
    /// `nil`: no other error caused this one.
    public var underlying: (any Error)? { nil }
    /// Whether the response is stored despite the error, which came afterwards, when the store made room.
    var isAfterStoring = false
    /// Whether the store itself tries a failed removal again, and doesn't serve the entries meanwhile.
    var isOwed = false

    /// Creates an error with a code and a message that contains no secrets.
    public init(_ code: HTTPErrorCode, _ message: String) {
        self.code = code
        self.message = message
    }

    static func tooLarge(_ limit: Int64) -> CacheStoreError {
        CacheStoreError(.bodyTooLarge, "The body has more than \(limit) bytes. To store it, raise the entryByteLimit.")
    }

    /// The code and the message on one line, with secrets redacted: a store's message may quote an error of the system.
    public var description: String { PrintableText.line(Redaction.standard.text(line())) }
}

extension Error {
    /// Whether a store keeps the debt of this failed removal.
    var isOwed: Bool { (self as? CacheStoreError)?.isOwed ?? false }
}

extension HTTPErrorCode {
    /// `CacheStoreError`: bodies in progress leave no room for another.
    public static let storeFull = Self(rawValue: "storeFull")
    /// `CacheStoreError`: the stored entry isn't what was written. It has been removed.
    public static let entryDamaged = Self(rawValue: "entryDamaged")
    /// `CacheStoreError`: the entry was replaced or removed after it was found.
    public static let entryGone = Self(rawValue: "entryGone")
    /// `CacheStoreError`: the directory or a file in it can't be read or written now. The entry is kept.
    public static let storeUnavailable = Self(rawValue: "storeUnavailable")
    /// `CacheStoreError`: another process has held a lock for too long.
    public static let storeBusy = Self(rawValue: "storeBusy")
}
