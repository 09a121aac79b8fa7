internal import Foundation
internal import Interceptors

/// The URL that a server gives an upload.
struct UploadNaming: Sendable {
    private(set) var url: URL?
    /// The first fault in what the server said. The upload can't be resumed after it, but it can succeed.
    private(set) var fault: UploadFault?

    init(_ url: URL? = nil) { self.url = url }

    /// Takes over the `Location` fields of a response or an interim response, if there are any.
    ///
    /// - Parameters:
    ///   - base: the URL of the request that was answered.
    ///   - target: the URL of the call. An upload over https never continues over http.
    mutating func take(_ locations: [String], from base: URL, target: URL) {
        guard !locations.isEmpty, fault == nil else { return }
        guard Set(locations).count == 1, !locations[0].isEmpty, let found = LocationField.url(locations[0], from: base),
            Origin(found) != nil
        else { return fault = .locationInvalid }
        let wasSecure = target.scheme?.lowercased() == "https" || base.scheme?.lowercased() == "https"
        if wasSecure, found.scheme?.lowercased() != "https" { return fault = .insecureLocation }
        if let url, url.absoluteString != found.absoluteString { return fault = .locationChanged }
        url = found
    }
}
