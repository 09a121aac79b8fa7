internal import Foundation
internal import Interceptors
internal import InterceptorsSyntax
internal import Synchronization

/// The folder with the records of one identifier, and the bodies that aren't files of the app.
///
/// ```
/// <id>.json       the record
/// <id>.upload     the content of an upload, unless it is a file of the app
/// <id>.incoming   the content of a download that runs in the process, until it is complete
/// ```
/// A received file is first moved into the destination's folder, as `.<id>.received`. The move copies the file if the folder is on
/// another volume. The file is then renamed to `.<id>.download`, and at last to the destination, which shows the complete file or
/// nothing.
struct TransferFolder: TransferStorage, Sendable {
    let url: URL

    #if os(tvOS)
    private static let isTV = true
    #else
    private static let isTV = false
    #endif

    /// The system's folder for the records. A device with tvOS denies an app the support folder.
    static func parent(onTV: Bool) -> FileManager.SearchPathDirectory {
        onTV ? .cachesDirectory : .applicationSupportDirectory
    }

    /// The usual folder for an identifier, in the app's support folder, or on tvOS in the caches folder.
    static func usual(for identifier: String) throws(TransportError) -> URL {
        let support = try orThrow("The system has no folder for the app's files. Pass `folder:`.") {
            try FileManager.default.url(for: parent(onTV: isTV), in: .userDomainMask, appropriateFor: nil, create: true)
        }
        // An identifier may contain any character, such as a slash.
        let name = PortableSHA256.digest(Array(identifier.utf8)).prefix(16).hexadecimal
        return support.appending(path: "BackgroundTransfers").appending(path: name)
    }

    /// Creates the folder, for this user alone, unless it exists.
    func create() throws(TransportError) {
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
        try Self.orThrow(unusable) {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true, attributes: attributes)
        }
        setAttributes()
    }

    /// Best effort: a volume without these attributes, as on some systems, keeps transfers as well.
    private func setAttributes() {
        #if canImport(Darwin)
        // Restored on another device, a record would send its upload once more.
        var (folder, values) = (url, URLResourceValues())
        values.isExcludedFromBackup = true
        try? folder.setResourceValues(values)
        #endif
        #if canImport(Darwin) && !os(macOS)
        // Transfers end while the device is locked. New files inherit the class.
        try? FileManager.default.setAttributes(
            [.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication],
            ofItemAtPath: url.path
        )
        #endif
    }

    private var unusable: String { "The folder \(url.path) can't be created or read." }

    /// The result of work with files. Any error of the system becomes one with this message.
    private static func orThrow<Result>(
        _ message: String,
        _ code: HTTPErrorCode = .unwritableFile,
        _ work: () throws -> Result
    ) throws(TransportError) -> Result {
        do {
            return try work()
        } catch {
            throw TransportError(code, message)
        }
    }

    /// Creates the folder, reads its records, and removes files that belong to none.
    ///
    /// - Parameter report: called for each damaged record, which is removed.
    /// - Throws: if the folder or a record can't be read, as before the first unlock of a device. Without its record, a running
    ///   transfer would be taken for a foreign one.
    func open(report: (TransferFailure) -> Void) throws(TransportError) -> [TransferRecord] {
        try create()
        let names = try Self.orThrow(unusable) { try FileManager.default.contentsOfDirectory(atPath: url.path) }
        var records: [TransferRecord] = []
        for name in names.sorted() where name.hasSuffix(".json") {
            if let record = try read(name) {
                records.append(record)
            } else {
                report(TransferFailure(.transferLost, "The record \(name) was damaged, and removed."))
                try? FileName.remove(url.appending(path: name).path)
            }
        }
        let kept = Set(records.flatMap { ["\($0.id).json", "\($0.id).upload"] })
        for name in names where !kept.contains(name) && Self.isOwn(name) {
            try? FileName.remove(url.appending(path: name).path)
        }
        return records
    }

    /// Whether this module wrote a file with this name. An upload whose content is being written has a hidden name, and so has a
    /// record that Foundation is writing.
    private static func isOwn(_ name: String) -> Bool {
        [".download-", ".dat.nosync"].contains { name.hasPrefix($0) }
            || extensions.contains((name as NSString).pathExtension)
    }

    private static let extensions = ["json", "upload", "incoming"]

    /// `nil` for a damaged record.
    private func read(_ name: String) throws(TransportError) -> TransferRecord? {
        let content = try Self.orThrow("The record \(name) in \(url.path) can't be read.", .unreadableFile) {
            try Data(contentsOf: url.appending(path: name))
        }
        let record = try? JSONDecoder().decode(TransferRecord.self, from: content)
        return record.flatMap { "\($0.id).json" == name && $0.attempt > 0 ? $0 : nil }
    }

    /// The file with the content of an upload.
    func upload(of id: BackgroundTransfer.ID) -> URL { url.appending(path: "\(id).upload") }

    /// The file for content that is being received in the process.
    func incoming(of id: BackgroundTransfer.ID) -> URL { url.appending(path: "\(id).incoming") }

    func write(_ record: TransferRecord) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        try Self.orThrow("A record can't be written to \(url.path).") {
            try encoder.encode(record).write(to: url.appending(path: "\(record.id).json"), options: .atomic)
        }
    }

    /// Removes the content of an upload, if it is in the folder.
    func removeUpload(of id: BackgroundTransfer.ID) throws(SystemCallFailure) {
        try FileName.remove(upload(of: id).path)
    }

    func remove(_ record: TransferRecord) throws {
        let own = Self.extensions.map { url.appending(path: "\(record.id).\($0)") }
        for file in own + [Self.hidden(record), Self.near(record)].compactMap(\.self) {
            do throws(SystemCallFailure) {
                try FileName.remove(file.path)
            } catch {
                throw TransportError(.unwritableFile, error.sentence)
            }
        }
    }

    /// Moves a received file beside its destination, from another volume as a copy. `nil` if that fails, as ``stage(_:for:)`` then
    /// does too.
    func bring(_ file: URL, for record: TransferRecord) -> URL? {
        guard let near = Self.near(record) else { return nil }
        do {
            try FileName.remove(near.path)
            let folder = near.deletingLastPathComponent()
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try FileManager.default.moveItem(at: file, to: near)
            return near
        } catch {
            try? FileName.remove(near.path)
            return nil
        }
    }

    // Only a rename: the caller holds a lock.
    func stage(_ file: URL, for record: TransferRecord) throws {
        guard let hidden = Self.hidden(record) else { return }
        try Self.orThrow("The downloaded file can't be moved into the folder of \(hidden.path).") {
            try FileName.rename(file.path, to: hidden.path)
        }
    }

    func place(_ record: TransferRecord) throws {
        guard let hidden = Self.hidden(record), let destination = record.destination?.url else { return }
        // Without the hidden file, an earlier launch has renamed it.
        if !FileManager.default.fileExists(atPath: hidden.path),
            FileManager.default.fileExists(atPath: destination.path)
        {
            return
        }
        do {
            if let permissions = try HTTPBody.permissions(ofFileToReplace: destination) {
                try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: hidden.path)
            }
            try FileName.rename(hidden.path, to: destination.path)
        } catch {
            try? FileName.remove(hidden.path)
            let sentence = (error as? SystemCallFailure)?.sentence ?? (error as? any HTTPError)?.message
            throw TransportError(.unwritableFile, sentence ?? "\(destination.path) can't be written.")
        }
    }

    /// The name of a complete file before the rename.
    private static func hidden(_ record: TransferRecord) -> URL? { sibling(of: record, "download") }

    /// The name of a received file before the record accepts it.
    private static func near(_ record: TransferRecord) -> URL? { sibling(of: record, "received") }

    private static func sibling(of record: TransferRecord, _ ending: String) -> URL? {
        record.destination?.url.deletingLastPathComponent().appending(path: ".\(record.id).\(ending)")
    }
}

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
        let message = "Other BackgroundTransfers, or those of another process, use \(path). Give each a folder."
        return TransferError(.folderInUse, message)
    }
}
