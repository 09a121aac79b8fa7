public import Foundation

/// A form of an image apart from the one at full size, such as a thumbnail: a value that decodes it.
///
/// ```swift
/// struct Thumbnail: ImageVariant {
///     let longestSide: Int
///
///     func image(from content: Data) throws -> Picture {
///         try Picture(decoding: content, longestSide: longestSide)
///     }
/// }
///
/// let poster = try await images.image(at: "/films/42/poster", as: Thumbnail(longestSide: 300)).image
/// ```
/// Equal variants of a URL are one image. Every property that changes the image must take part in `==` and `hash(into:)`, as
/// synthesized ones do. Both are called while the loader is locked: they must be fast, and never call the loader.
///
/// If your module defaults to `@MainActor` (new Xcode apps do), mark variants `nonisolated`.
public protocol ImageVariant<Image>: Sendable, Hashable {
    /// The type of the decoded image.
    associatedtype Image: Sendable

    /// Decodes an image. Called outside every actor, like the loader's own decoder.
    func image(from content: Data) throws -> Image
}

/// The identity of an image: callers with equal keys get the same image.
struct ImageKey: Sendable, Hashable {
    private struct Variant: Sendable, Hashable {
        let value: any Hashable & Sendable

        static func == (left: Self, right: Self) -> Bool { AnyHashable(left.value) == AnyHashable(right.value) }

        func hash(into hasher: inout Hasher) { AnyHashable(value).hash(into: &hasher) }
    }

    let url: String
    private let variant: Variant?

    init(_ url: URL, _ variant: (any Hashable & Sendable)?) {
        self.url = url.absoluteString
        self.variant = variant.map { Variant(value: $0) }
    }
}
