public import Foundation
public import Interceptors

/// A download to a file, or an upload from one, that may go on while the app isn't running.
///
/// Its end is delivered to the closure that ``BackgroundTransfers`` was created with, perhaps in a later launch.
public struct BackgroundTransfer: Sendable, Hashable, Identifiable {
    /// Names the transfer across launches. You may store it.
    public let id: String
    /// The file that a download writes; `nil` for an upload.
    public let destination: URL?
    /// The app's own text about the transfer. It is kept on disk in plain form, so put no secret into it.
    public let note: String
    /// The number of times that the chain prepared a request for this transfer; 1 at first.
    public let attempt: Int

    /// Creates a transfer, so that a test can call the code that receives ends.
    ///
    /// - Parameters:
    ///   - id: names the transfer.
    ///   - destination: the file that a download writes; `nil` for an upload.
    ///   - note: the app's text about the transfer.
    ///   - attempt: the number of times that a request was prepared.
    public init(id: String, destination: URL?, note: String = "", attempt: Int = 1) {
        self.id = id
        self.destination = destination
        self.note = note
        self.attempt = attempt
    }
}

extension BackgroundTransfer {
    /// The end of a transfer, and its response or error.
    ///
    /// The response is the same in the launch that started the transfer and in later ones. It has a status that is a success, and of
    /// the fields only `Content-Type`, `Content-Disposition`, `ETag` and `Last-Modified`, because the others may hold secrets.
    ///
    /// - After a download, the file is complete at ``BackgroundTransfer/destination``, and the response has no content. After a
    ///   failure, the destination holds the earlier file, if any.
    /// - After an upload, the response has up to 64 KiB of content. The content is lost if the process ends between the
    ///   system's report and the delivery.
    /// - The error is a ``TransferError``, or a `CancellationError` after ``BackgroundTransfers/cancel(_:)``.
    public typealias End = (transfer: BackgroundTransfer, result: Result<HTTPResponse, any Error>)
}
