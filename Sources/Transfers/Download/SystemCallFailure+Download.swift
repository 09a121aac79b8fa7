internal import Interceptors

extension SystemCallFailure {
    /// The error of a download whose file couldn't be read or written.
    func downloadError(of request: HTTPRequest?) -> any HTTPError {
        guard isOfFullDisk else { return TransportError(.unwritableFile, sentence, request: request) }
        return DownloadError(.diskFull, sentence + " Free space on the disk.", request: request)
    }
}
