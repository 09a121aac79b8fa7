/// Paths to look for, all of their names in a row: to compare a name holds on to nothing and allocates nothing.
struct JSONPaths: Sendable {
    /// How many there are.
    let count: Int
    private let names: [UInt8]
    // Where each name ends; it begins where the one before it ends.
    private let ends: [Int]
    // Of each path the first of its names, and after the last path where one more would begin.
    private let firsts: [Int]

    /// - Parameter paths: for each wanted value the names of the members that lead to it, in UTF-8.
    init(_ paths: [[[UInt8]]]) {
        count = paths.count
        let all = paths.flatMap { $0 }
        names = all.flatMap { $0 }
        ends = all.reduce(into: [0]) { $0.append($0[$0.count - 1] + $1.count) }
        firsts = paths.reduce(into: [0]) { $0.append($0[$0.count - 1] + $1.count) }
    }

    /// How many names a path has.
    @inline(__always)
    func length(of path: Int) -> Int { firsts[path + 1] - firsts[path] }

    /// Whether a name of a path, told by its level from 0, is this one.
    @inline(__always)
    func isName(of path: Int, level: Int, _ name: UnsafeRawBufferPointer) -> Bool {
        let index = firsts[path] + level
        let start = ends[index]
        guard name.count == ends[index + 1] - start else { return false }
        return names.withUnsafeBytes { names in
            for offset in 0..<name.count where names[start + offset] != name[offset] { return false }
            return true
        }
    }
}
