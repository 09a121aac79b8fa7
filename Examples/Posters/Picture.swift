import Foundation
import InterceptorsImages

/// A picture of characters, so that the example needs no image format of a platform.
struct Picture: Sendable, Equatable, CustomStringConvertible {
    /// Thrown for content that isn't a picture.
    struct Malformed: Error {}

    let lines: [String]
    /// The cost of the picture in memory, in bytes.
    var cost: Int { lines.reduce(0) { $0 + $1.utf8.count } }
    var description: String { lines.map { "    " + $0 }.joined(separator: "\n") }

    /// The poster with a number: a bar of that length.
    init(poster number: Int) {
        let line = String(repeating: "#", count: number) + String(repeating: ".", count: 20 - number)
        lines = Array(repeating: line, count: 4)
    }

    /// Decodes lines of `#` and `.` with equal lengths. Keeps only every nth line and character if a step is given.
    init(decoding content: Data, step: Int = 1) throws {
        let rows = String(decoding: content, as: UTF8.self).split(separator: "\n")
        guard let width = rows.first?.count,
            rows.allSatisfy({ $0.count == width && $0.allSatisfy { "#.".contains($0) } })
        else { throw Malformed() }
        lines = stride(from: 0, to: rows.count, by: step).map { row in
            let characters = Array(rows[row])
            return String(stride(from: 0, to: width, by: step).map { characters[$0] })
        }
    }
}

/// The picture at half its size.
struct Thumbnail: ImageVariant {
    func image(from content: Data) throws -> Picture { try Picture(decoding: content, step: 2) }
}
