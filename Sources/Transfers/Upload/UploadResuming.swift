internal import Foundation
public import Interceptors

/// The protocol by which an interrupted upload continues where it stopped, and how long it tries.
///
/// | value | protocol | requests of an upload without trouble |
/// | --- | --- | --- |
/// | ``draft`` | "Resumable Uploads for HTTP", an Internet-Draft of the IETF | one |
/// | ``tus`` | tus 1.0 | two |
///
/// A call goes on after the codes `connectionLost`, `truncated`, `timedOut`, `offline`, `cannotConnect` and `cannotFindHost`, after
/// the refusal of an interceptor such as an open circuit, and after the statuses 408, 409, 423, 425, 429 and 5xx of a request that
/// continues the upload, or of one that may be sent again. The call asks the server how many bytes it has, and sends the rest. Before that it waits as long as the server asks by `Retry-After`; if
/// the wait is more than a minute, the call ends.
///
/// ```swift
/// let film = try HTTPBody(file: file)
/// let response = try await api.upload(.stream(film, type: "video/mp4"), to: "/films", resuming: .draft)
/// ```
public struct UploadResuming: Sendable {
    let kind: UploadProtocol
    /// Whether the request that makes the upload has no content.
    let startsEmpty: Bool
    var metadata: [String: String] = [:]
    var partLimit = Int64.max
    private(set) var patience = Duration.seconds(120)
    /// The number of consecutive responses without new bytes after which a call fails.
    package var answerLimit = TransferPatience.usualAnswers
    private(set) var time = TimeSource.system
    private(set) var launches: UploadLaunches?

    /// The protocol of the Internet-Draft draft-ietf-httpbis-resumable-upload with the interop version 8. The first request has the
    /// content. The call fails after two minutes without new bytes at the server.
    public static let draft = Self.draft()

    /// The protocol tus 1.0, whose first request has no content. The call fails after two minutes without new bytes at the server.
    public static let tus = Self.tus()

    /// The protocol of the Internet-Draft draft-ietf-httpbis-resumable-upload with the interop version 8.
    ///
    /// - Parameters:
    ///   - startsEmpty: whether the first request has no content, and its response names the upload. By default the content goes with the
    ///     first request: a server without the protocol takes that for an upload like any other, and the upload can be resumed once the
    ///     server has named it in a response with the status 104, which `URLSession` doesn't report on Linux. A server without the
    ///     protocol would take an empty request for an empty upload: start so only with servers that are known to have it.
    ///   - partLimit: the maximum number of bytes in a request, for a proxy with such a limit. By default only the server's limit
    ///     counts. Content over the limit needs a server that is known to have the protocol.
    public static func draft(startsEmpty: Bool = false, partLimit: Int64 = .max) -> Self {
        Self(kind: .draft, startsEmpty: startsEmpty, partLimit: partLimit)
    }

    /// The protocol tus 1.0 with its extension `creation`.
    ///
    /// - Parameters:
    ///   - startsEmpty: whether the first request has no content, as by default. With content it needs a server with the extension
    ///     `creation-with-upload`.
    ///   - metadata: sent as `Upload-Metadata`. The content's media type isn't sent otherwise: many servers read it and the file's
    ///     name as `["filename": "film.mp4", "filetype": "video/mp4"]`. A name consists of printable ASCII characters other than
    ///     spaces and commas.
    ///   - partLimit: the maximum number of bytes in a request, for a proxy with such a limit; by default unlimited.
    public static func tus(
        startsEmpty: Bool = true,
        metadata: [String: String] = [:],
        partLimit: Int64 = .max
    ) -> Self {
        Self(kind: .tus, startsEmpty: startsEmpty, metadata: metadata, partLimit: partLimit)
    }

    /// Sets how long a call that goes on tries.
    ///
    /// - Parameters:
    ///   - patience: the time without new bytes at the server after which the call fails, from the first of consecutive
    ///     failures; two minutes by default. With zero, the first attempt without new bytes ends the call. Five consecutive
    ///     responses without new bytes always end it, except 409 and 423: another request may hold a lock then.
    ///   - time: its clock measures the waits between attempts, up to 0.2 s, 0.4 s and so on, at most 20 s, with full jitter. After
    ///     a 409 or a 423 a wait is at least 1 s.
    public func trying(for patience: Duration = .seconds(120), time: TimeSource = .system) -> Self {
        var copy = self
        (copy.patience, copy.time) = (patience, time)
        return copy
    }

    /// The upload can be continued in another launch of the program.
    ///
    /// ```swift
    /// let film = try HTTPBody(file: file)
    /// let resuming = UploadResuming.tus.acrossLaunches(from: saved) { upload in remember(upload) }
    /// try await api.upload(.stream(film, type: "video/mp4"), to: "/films", resuming: resuming)
    /// remember(nil)
    /// ```
    /// - Parameters:
    ///   - unfinished: the value that an earlier launch saved, if any. Only the same content continues it, and only by the same
    ///     method to the same URL. For any other length or version the call throws a ``TransferError`` with
    ///     `HTTPErrorCode.uploadContentChanged`, for another target one with `HTTPErrorCode.uploadTargetChanged`. Nothing is sent then.
    ///   - version: names the version of the content, such as a file's modification date. By default the SHA-256 of the content,
    ///     which is read for it before the upload.
    ///   - save: called when the server has named the upload, possibly from any thread, before the content is complete. Called again
    ///     if the upload starts over. It must return quickly.
    public func acrossLaunches(
        from unfinished: UnfinishedUpload? = nil,
        version: String? = nil,
        save: @escaping @Sendable (UnfinishedUpload) -> Void
    ) -> Self {
        var copy = self
        copy.launches = UploadLaunches(unfinished: unfinished, version: version, save: save)
        return copy
    }
}

extension UploadResuming: CustomStringConvertible, CustomReflectable {
    /// The protocol, and the names of the metadata without values, which may be secret.
    public var description: String {
        metadata.isEmpty ? kind.rawValue : "\(kind.rawValue), metadata \(metadata.keys.sorted())"
    }
    /// A mirror that shows only ``description``.
    public var customMirror: Mirror { Mirror(self, children: ["resuming": description], displayStyle: .struct) }
}

/// The connection of an upload with earlier and later launches.
struct UploadLaunches: Sendable {
    let unfinished: UnfinishedUpload?
    let version: String?
    let save: @Sendable (UnfinishedUpload) -> Void
}
