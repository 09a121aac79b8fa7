/// Paths to look for, all of their names in a row: to compare a name holds on to nothing and allocates nothing.
///
/// An object, because those who look for them would otherwise hold on to each of the arrays.
final class JSONPaths: Sendable {
    private struct Name {
        let start: Int
        let count: Int
    }

    /// How many there are.
    let count: Int
    private let bytes: [UInt8]
    private let names: [Name]
    // Of each path the first of its names, and after the last path where one more would begin.
    private let firsts: [Int]

    /// - Parameter paths: for each wanted value the names of the members that lead to it, in UTF-8.
    init(_ paths: [[[UInt8]]]) {
        count = paths.count
        let all = paths.flatMap { $0 }
        bytes = all.flatMap { $0 }
        names = all.reduce(into: []) { names, name in
            names.append(Name(start: names.last.map { $0.start + $0.count } ?? 0, count: name.count))
        }
        firsts = paths.reduce(into: [0]) { $0.append($0[$0.count - 1] + $1.count) }
    }

    /// How many names a path has.
    @inline(__always)
    func length(of path: Int) -> Int { firsts[path + 1] - firsts[path] }

    /// Whether a name of a path, told by its level from 0, is this one.
    @inline(__always)
    func isName(of path: Int, level: Int, _ name: UnsafeRawBufferPointer) -> Bool {
        let wanted = names[firsts[path] + level]
        // Nearly all others differ in length.
        guard name.count == wanted.count else { return false }
        return bytes.withUnsafeBytes { bytes in
            for offset in 0..<wanted.count where bytes[wanted.start + offset] != name[offset] { return false }
            return true
        }
    }
}
