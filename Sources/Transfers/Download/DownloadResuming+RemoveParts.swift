public import Foundation
internal import Interceptors

extension DownloadResuming {
    /// Removes the bytes that ``acrossLaunches`` keeps for a destination, if any. The destination itself stays.
    ///
    /// - Throws: `DownloadError` with `HTTPErrorCode.downloadInProgress` while a download uses the bytes, or a
    ///   `TransportError` with `HTTPErrorCode.unwritableFile`.
    public static func removeParts(of file: URL) throws {
        guard file.isFileURL else { throw TransportError(.unwritableFile, "The URL isn't a file URL.") }
        do throws(SystemCallFailure) {
            if try DownloadFiles(file).remove(PartProtection()) { return }
        } catch {
            throw error.downloadError(of: nil)
        }
        throw DownloadError(.downloadInProgress, "A download to \(file.path) is in progress. Cancel it first.")
    }
}
