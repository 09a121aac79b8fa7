internal import Foundation
internal import InterceptorsTransport

/// The content of a folder at one moment.
struct FolderImage: Sendable {
    enum Item: Sendable, Equatable {
        case folder(permissions: Int)
        case file(Data, permissions: Int, modified: Date)
        case pipe
    }

    /// The items by their paths below the folder.
    var items: [String: Item] = [:]

    /// Reads a folder. Leaves out files that vanish meanwhile, and items that are neither files nor folders.
    init(of folder: URL) throws {
        let manager = FileManager.default
        for path in try manager.subpathsOfDirectory(atPath: folder.path) {
            let full = folder.appending(path: path).path
            guard let attributes = try? manager.attributesOfItem(atPath: full) else { continue }
            let permissions = attributes[.posixPermissions] as? Int ?? 0o600
            switch attributes[.type] as? FileAttributeType {
            case .typeDirectory: items[path] = .folder(permissions: permissions)
            case .typeRegular:
                guard let bytes = manager.contents(atPath: full) else { continue }
                let modified = attributes[.modificationDate] as? Date ?? Date(timeIntervalSince1970: 0)
                items[path] = .file(bytes, permissions: permissions, modified: modified)
            default: continue
            }
        }
    }

    /// Makes the items in an empty folder.
    func write(to folder: URL) throws {
        let manager = FileManager.default
        // A folder's path is a prefix of its content's paths, so it comes first.
        for (path, item) in items.sorted(by: { $0.key < $1.key }) {
            let full = folder.appending(path: path).path
            switch item {
            case .folder(let permissions):
                try manager.createDirectory(
                    atPath: full,
                    withIntermediateDirectories: true,
                    attributes: [.posixPermissions: permissions]
                )
            case .file(let bytes, let permissions, let modified):
                let attributes: [FileAttributeKey: Any] = [.posixPermissions: permissions, .modificationDate: modified]
                try bytes.write(to: URL(filePath: full))
                try manager.setAttributes(attributes, ofItemAtPath: full)
            case .pipe:
                guard mkfifo(full, 0o600) == 0 else { throw SystemCallFailure("mkfifo", full, errno) }
            }
        }
    }

    /// The paths of the files, sorted.
    var files: [String] {
        items.compactMap { path, item in if case .file = item { path } else { nil } }.sorted()
    }

    /// The bytes of a file.
    func bytes(_ path: String) -> Data? {
        if case .file(let bytes, _, _)? = items[path] { bytes } else { nil }
    }

    /// Replaces the bytes of a file, and keeps the rest.
    mutating func replace(_ path: String, with bytes: Data) {
        guard case .file(_, let permissions, let modified)? = items[path] else { return }
        items[path] = .file(bytes, permissions: permissions, modified: modified)
    }

    /// The same files with another time of modification.
    func modified(at time: Date) -> FolderImage {
        var copy = self
        copy.items = items.mapValues { item in
            if case .file(let bytes, let permissions, _) = item {
                .file(bytes, permissions: permissions, modified: time)
            } else {
                item
            }
        }
        return copy
    }

    /// The paths at which the bytes or the kinds of two images differ, sorted.
    func changes(since earlier: FolderImage) -> [String] {
        Set(items.keys).union(earlier.items.keys).filter { path in
            switch (items[path], earlier.items[path]) {
            case (.file(let new, _, _), .file(let old, _, _)): new != old
            case (let new, let old): new != old
            }
        }.sorted()
    }
}
