public import Foundation
internal import Interceptors

/// An upload that a server has begun to receive, as a program stores it for another launch.
///
/// ``UploadResuming/acrossLaunches(from:version:save:)`` hands it out and takes it back, and
/// ``InterceptorsCore/Client/cancelUpload(_:headers:context:)`` ends it at the server. Its URL may be all that a stranger needs to change the upload:
/// store the value like a password. The descriptions redact the URL.
public struct UnfinishedUpload: Sendable, Hashable, Codable {
    /// The URL that the server has given the upload.
    public let url: URL
    /// The number of bytes of the whole content.
    public let length: Int64
    let kind: UploadProtocol
    let version: String
    /// The method and the URL of the call that made the upload.
    let target: Target

    struct Target: Sendable, Hashable, Codable {
        let method: HTTPRequest.Method
        let url: URL

        init(_ request: HTTPRequest) { (method, url) = (request.method, request.url) }
    }
}

extension UnfinishedUpload: CustomStringConvertible, CustomReflectable {
    /// The redacted URL without its path, and the number of bytes.
    public var description: String {
        "\(kind.rawValue) upload of \(length) bytes to \(Origin(url)?.description ?? "an unknown server")"
    }
    /// A mirror that shows only ``description``.
    public var customMirror: Mirror { Mirror(self, children: ["upload": description], displayStyle: .struct) }
}
