internal import Foundation
internal import Interceptors
internal import Synchronization

/// The claim of one ``BackgroundTransfers`` on its identifier and on its folder. Two of them would end each other's transfers.
struct TransferClaim: Sendable {
    private struct Claimed {
        // The system allows one session of a process for each.
        var identifiers: Set<String> = []
        /// The locked folders by their paths; `nil` for a folder without a lock.
        var folders: [String: OpenedFile?] = [:]
    }

    private static let claimed = Mutex(Claimed())

    private let identifier: String
    private let path: String

    /// Claims the identifier and an existing folder.
    ///
    /// - Throws: ``TransferError`` with `identifierInUse` or `folderInUse`.
    init(_ identifier: String, _ folder: URL) throws {
        let path = (try? FileName.resolved(folder.path)) ?? folder.standardizedFileURL.path
        self.identifier = identifier
        self.path = path
        try Self.claimed.withLock { claimed in
            guard !claimed.identifiers.contains(identifier) else {
                let message =
                    "The process has BackgroundTransfers with the identifier \(identifier) already. Create one, and share it."
                throw TransferError(.identifierInUse, message)
            }
            guard claimed.folders[path] == nil else { throw Self.folderInUse(path) }
            claimed.folders[path] = .some(try Self.lock(path))
            claimed.identifiers.insert(identifier)
        }
    }

    /// Must be called once.
    func release() {
        Self.claimed.withLock { claimed in
            claimed.identifiers.remove(identifier)
            claimed.folders[path] = nil
        }
    }

    /// Excludes other processes. `nil` where a lock can't do that.
    private static func lock(_ path: String) throws -> OpenedFile? {
        #if canImport(Darwin) && !os(macOS)
        // An app has one process, and iOS ends an app that is suspended while it holds a lock in an App Group's folder.
        return nil
        #else
        let folder: OpenedFile
        do throws(SystemCallFailure) {
            folder = try OpenedFile.open(path, O_RDONLY)
        } catch {
            throw TransportError(.unreadableFile, error.sentence)
        }
        switch folder.tryLock() {
        case .locked: return folder
        case .unsupported: return nil
        case .busy: throw folderInUse(path)
        }
        #endif
    }

    private static func folderInUse(_ path: String) -> TransferError {
        TransferError(
            .folderInUse,
            "Other BackgroundTransfers keep their records in \(path), in this process or in another one. Give each a folder."
        )
    }
}
