internal import Foundation
internal import InterceptorsMiddlewares

// Files that were damaged.
extension CacheStoreConformance {
    static let damageLaws: [CrashLaw] = [
        CrashLaw(
            "damagedFileIsAMiss",
            repair: "Open regular files only, without blocking, and compare lengths and checksums with the record."
        ) { bench in
            guard let last = try await CrashScript.run(bench).last else { return }
            for path in last.image.files {
                for damage in damages(of: last.image.bytes(path) ?? Data()) {
                    var image = last.image
                    damage.change(&image, path)
                    let state = "With \(path) \(damage.name)"
                    try await bench.check(image, serves: last.content, state, mayFail: damage.isForeign)
                }
            }
        },
        CrashLaw("fileTimesDontDecideWhatIsServed", repair: "Use file times for eviction only; a future time is old.") {
            bench in
            guard let last = try await CrashScript.run(bench).last else { return }
            for (seconds, name) in [(4_102_444_800.0, "in the future"), (1.0, "of 1970")] {
                let image = last.image.modified(at: Date(timeIntervalSince1970: seconds))
                try await bench.check(image, serves: last.content, "With file times \(name)", isComplete: true)
            }
        },
    ]

    /// Something that happened to a file.
    private struct Damage {
        /// The end of a sentence that begins with the file.
        let name: String
        /// Whether the path is no file any more, which the store may report.
        var isForeign = false
        let change: (inout FolderImage, _ path: String) -> Void
    }

    private static func damages(of bytes: Data) -> [Damage] {
        let lengths = Set([0, 1, bytes.count / 2, bytes.count - 1]).filter { $0 >= 0 && $0 < bytes.count }
        let cuts = lengths.map { count in
            Damage(name: "cut to \(count) of \(bytes.count) bytes") { $0.replace($1, with: bytes.prefix(count)) }
        }
        let flips = positions(in: bytes.count).map { position in
            Damage(name: "with a changed bit in byte \(position)") { image, path in
                var changed = bytes
                changed[changed.startIndex + position] ^= 1 << (position % 8)
                image.replace(path, with: changed)
            }
        }
        return cuts + flips + [
            Damage(name: "removed") { $0.items[$1] = nil },
            Damage(name: "replaced by a pipe", isForeign: true) { $0.items[$1] = .pipe },
            Damage(name: "replaced by a folder", isForeign: true) { $0.items[$1] = .folder(permissions: 0o700) },
        ]
    }

    /// Positions in a file of a length: its ends, and some between them.
    private static func positions(in count: Int) -> [Int] {
        guard count > 0 else { return [] }
        let between = stride(from: 0, to: count, by: max(1, count / 12)).map { min(count - 1, $0 + $0 % 7) }
        return Set(between + [count - 1]).sorted()
    }
}
