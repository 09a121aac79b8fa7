/// The size of an image in pixels, which its header tells before anything is decoded.
struct ImagePixels: Sendable, Hashable {
    /// The highest side, which no limit allows.
    private static let highest = 1 << 30

    let width: Int
    let height: Int

    /// An impossible length becomes `highest`, which every limit refuses.
    init(width: Double, height: Double) {
        func side(_ length: Double) -> Int {
            length >= 0 && length < Double(Self.highest) ? Int(length.rounded()) : Self.highest
        }
        (self.width, self.height) = (side(width), side(height))
    }

    /// The bytes of the decoded image, with four for each pixel.
    var bytes: Int {
        let pixels = width.multipliedReportingOverflow(by: height)
        let bytes = pixels.partialValue.multipliedReportingOverflow(by: 4)
        return pixels.overflow || bytes.overflow ? .max : bytes.partialValue
    }

    /// Throws unless the image has at most this many pixels.
    func check(limit: Int) throws {
        guard bytes / 4 > max(0, limit) else { return }
        throw DecodingError.dataCorrupted(
            DecodingError.Context(
                codingPath: [],
                debugDescription: "The image has \(width) × \(height) pixels, more than pixelLimit (\(limit)) allows."
            )
        )
    }

    /// The size with the same proportions whose longest side has at most this many pixels; at least one pixel a side.
    func fitting(longestSide: Int) -> Self {
        let (longest, limit) = (max(width, height), max(1, longestSide))
        guard longest > limit else { return self }
        let scale = Double(limit) / Double(longest)
        return Self(width: max(1, Double(width) * scale), height: max(1, Double(height) * scale))
    }
}
