internal import Foundation
internal import InterceptorsMiddlewares

// Files that were damaged.
extension CacheStoreConformance {
    static let damageLaws: [CrashLaw] = [
        CrashLaw(
            "truncatedFileIsAMiss",
            expected: "A file that was cut must count as a miss, and its entry must be removed.",
            harm: "Otherwise the program shows half of a file after a full disk or a loss of power.",
            repair: "Keep the lengths of all parts in the record, and compare them when you read."
        ) { bench in
            try await forEachFile(bench) { image, path, bytes, content in
                for count in Set([0, 1, bytes.count / 2, bytes.count - 1]) where count >= 0 && count < bytes.count {
                    var damaged = image
                    damaged.replace(path, with: bytes.prefix(count))
                    try await bench.check(
                        damaged,
                        serves: content,
                        "With \(path) cut to \(count) of \(bytes.count) bytes"
                    )
                }
            }
        },
        CrashLaw(
            "flippedBitIsAMiss",
            expected:
                "A file with a changed bit must never change what is served; the damaged entry must be removed.",
            harm: "Otherwise a failing disk changes documents and prices without anybody noticing.",
            repair: "Keep a checksum of each record and body, and compare it when you read."
        ) { bench in
            try await forEachFile(bench) { image, path, bytes, content in
                for position in positions(in: bytes.count) {
                    var (damaged, changed) = (image, bytes)
                    changed[changed.startIndex + position] ^= 1 << (position % 8)
                    damaged.replace(path, with: changed)
                    try await bench.check(damaged, serves: content, "With a changed bit in byte \(position) of \(path)")
                }
            }
        },
        CrashLaw(
            "missingFileIsAMiss",
            expected: "If a file is gone, its entries must be misses, and the store must go on working.",
            harm: "Otherwise a tool that frees space breaks the program until it is installed again.",
            repair: "Treat a missing file as an entry that was never stored, and make it again when you write."
        ) { bench in
            try await forEachFile(bench) { image, path, _, content in
                var damaged = image
                damaged.items[path] = nil
                try await bench.check(damaged, serves: content, "Without \(path)")
            }
        },
        CrashLaw(
            "foreignItemIsNoEntry",
            expected: "A pipe or a folder in the place of a file must neither block the store nor be served.",
            harm: "Otherwise opening the cache blocks the program for ever.",
            repair: "Open with O_NONBLOCK and O_NOFOLLOW, and use regular files only."
        ) { bench in
            try await forEachFile(bench) { image, path, _, content in
                for item in [FolderImage.Item.pipe, .folder(permissions: 0o700)] {
                    var damaged = image
                    damaged.items[path] = item
                    let kind = item == .pipe ? "a pipe" : "a folder"
                    try await bench.check(damaged, serves: content, "With \(kind) as \(path)", mayFail: true)
                }
            }
        },
        CrashLaw(
            "fileTimesDontDecideWhatIsServed",
            expected: "Files with times in the future or long past must be served as before.",
            harm: "Otherwise a wrong clock empties the cache, or keeps entries for ever.",
            repair: "Treat a time in the future as old, and use file times for eviction only."
        ) { bench in
            guard let last = try await CrashScript.run(bench).last else { return }
            for (seconds, name) in [(4_102_444_800.0, "in the future"), (1.0, "of 1970")] {
                let image = last.image.modified(at: Date(timeIntervalSince1970: seconds))
                try await bench.check(image, serves: last.content, "With file times \(name)", isComplete: true)
            }
        },
    ]

    /// Calls the closure for each file that the script leaves.
    private static func forEachFile(
        _ bench: CrashBench,
        _ check: (_ image: FolderImage, _ path: String, _ bytes: Data, _ content: Content) async throws -> Void
    ) async throws {
        guard let last = try await CrashScript.run(bench).last else { return }
        for path in last.image.files {
            guard let bytes = last.image.bytes(path) else { continue }
            try await check(last.image, path, bytes, last.content)
        }
    }

    /// Positions in a file of a length: its ends, and some between them.
    private static func positions(in count: Int) -> [Int] {
        guard count > 0 else { return [] }
        let between = stride(from: 0, to: count, by: max(1, count / 12)).map { min(count - 1, $0 + $0 % 7) }
        return Set(between + [count - 1]).sorted()
    }
}
