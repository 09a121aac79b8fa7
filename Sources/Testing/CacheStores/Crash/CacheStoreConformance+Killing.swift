internal import Foundation
internal import InterceptorsMiddlewares

// Processes that end at any moment.
extension CacheStoreConformance {
    static let killLaws: [CrashLaw] = [
        CrashLaw(
            "aKillLeavesTheOldEntryTheNewOneOrNone",
            repair: "Write each body to a new file, and make it visible by renaming one record with its checksum."
        ) { bench in
            let moments = try await CrashScript.run(bench)
            for moment in moments {
                try await bench.check(moment.image, serves: moment.content, "After a kill behind \(moment.name)")
            }
            for (earlier, later) in zip(moments, moments.dropFirst()) {
                let content = earlier.content.merging(later.content) { $0.union($1) }
                for image in later.image.partialChanges(since: earlier.image) {
                    try await bench.check(image, serves: content, "After a kill within \(later.name)")
                }
            }
        }
    ]
}

extension FolderImage {
    private static let mostChoices = 12

    /// The images between two others: each has some of the changes, or all of them with one file cut.
    func partialChanges(since earlier: FolderImage) -> [FolderImage] {
        let paths = changes(since: earlier)
        guard !paths.isEmpty else { return [] }
        // Each bit of a choice says whether a change has been made.
        let all = paths.count < 16 ? 1 << paths.count : 1 << 16
        let step = max(1, all / Self.mostChoices)
        var images = stride(from: 1, to: all - 1, by: step).map { choice in
            var image = earlier
            for (index, path) in paths.enumerated() where index < 16 && choice >> index & 1 == 1 {
                image.items[path] = items[path]
            }
            return image.withParents(from: self)
        }
        for path in paths {
            guard let bytes = bytes(path), bytes.count > (earlier.bytes(path)?.count ?? 0) else { continue }
            var image = self
            image.replace(path, with: bytes.prefix(((earlier.bytes(path)?.count ?? 0) + bytes.count) / 2))
            images.append(image)
        }
        return images
    }

    /// Adds the folders of all items, and removes items whose folder is none.
    private func withParents(from later: FolderImage) -> FolderImage {
        var image = self
        for path in items.keys {
            var parent = (path as NSString).deletingLastPathComponent
            while !parent.isEmpty {
                if image.items[parent] == nil {
                    image.items[parent] = later.items[parent] ?? .folder(permissions: 0o700)
                }
                parent = (parent as NSString).deletingLastPathComponent
            }
        }
        return image
    }
}
