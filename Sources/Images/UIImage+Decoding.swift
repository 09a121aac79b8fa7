#if canImport(UIKit) && !os(watchOS)
internal import CoreGraphics
public import Foundation
public import UIKit

/// A smaller form of an image for a cell: UIKit decodes it at that size, with a fraction of the memory.
///
/// ```swift
/// let images = ImageLoader<UIImage>(client)
/// let poster = try await images.image(at: "/films/42/poster", as: ImageThumbnail(longestSide: 300)).image
/// ```
public struct ImageThumbnail: ImageVariant {
    /// The length of the longer side in pixels. A smaller image keeps its size.
    public let longestSide: Int
    /// The pixels of one point, such as the screen's scale.
    public let scale: Double
    /// The highest number of pixels of the full image.
    public let pixelLimit: Int

    /// Creates a variant.
    ///
    /// - Parameters:
    ///   - longestSide: the length of the longer side in pixels. A smaller image keeps its size.
    ///   - scale: the pixels of one point; 1 by default.
    ///   - pixelLimit: the highest number of pixels of the full image; 50 million by default. A larger one isn't decoded.
    public init(longestSide: Int, scale: Double = 1, pixelLimit: Int = 50_000_000) {
        self.longestSide = longestSide
        self.scale = scale
        self.pixelLimit = pixelLimit
    }

    /// Decodes the image at the smaller size.
    public func image(from content: Data) throws -> UIImage {
        let full = try UIImage.undecoded(content, scale: 1, pixelLimit: pixelLimit)
        let pixels = full.pixels.fitting(longestSide: longestSide)
        let size = CGSize(width: pixels.width, height: pixels.height)
        guard let small = full.preparingThumbnail(of: size) else {
            throw UIImage.unreadable("UIImage can't make a thumbnail of the content.")
        }
        guard let bitmap = small.cgImage, scale > 0 else { return small }
        return UIImage(cgImage: bitmap, scale: scale, orientation: small.imageOrientation)
    }
}

extension UIImage {
    /// The image of some content. UIKit reads its header now, and decodes it later.
    ///
    /// - Parameters:
    ///   - scale: the pixels of one point.
    ///   - pixelLimit: the highest number of pixels.
    static func undecoded(_ content: Data, scale: Double, pixelLimit: Int) throws -> UIImage {
        guard let image = UIImage(data: content, scale: scale > 0 ? scale : 1) else {
            throw unreadable("UIImage can't read the content.")
        }
        try image.pixels.check(limit: pixelLimit)
        return image
    }

    static func unreadable(_ reason: String) -> DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: [], debugDescription: reason))
    }

    var pixels: ImagePixels { ImagePixels(width: size.width * scale, height: size.height * scale) }

    /// The bytes of the decoded image in memory. An image without a bitmap, such as one of Core Image, counts by its size.
    var memoryCost: Int { cgImage.map { $0.bytesPerRow * $0.height } ?? pixels.bytes }
}
#endif
