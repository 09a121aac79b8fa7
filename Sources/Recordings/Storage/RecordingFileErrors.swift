internal import Foundation

extension SystemCallFailure {
    /// The error that a caller gets when a file couldn't be read.
    var unreadable: TransportError { TransportError(.unreadableFile, sentence) }

    /// The error that a caller gets when a file couldn't be written.
    var unwritable: TransportError {
        let remedy: String
        switch POSIXErrorCode(rawValue: code) {
        case .EACCES, .EPERM, .EROFS: remedy = " Put the recording into a folder that this process can write."
        case .EFBIG: remedy = " A recording has at most 1 GiB: begin another file."
        case .EISDIR, .ENOTDIR: remedy = " A recording is a file in a folder."
        default: remedy = isOfFullDisk ? " Free space on the disk." : ""
        }
        return TransportError(.unwritableFile, sentence + remedy)
    }
}
