/// An image, and where it came from.
public struct LoadedImage<Image: Sendable>: Sendable {
    /// The decoded image.
    public let image: Image
    /// Where the image came from.
    public let source: ImageSource

    /// Creates a value, for previews and tests.
    public init(_ image: Image, from source: ImageSource) {
        self.image = image
        self.source = source
    }
}

extension LoadedImage: Equatable where Image: Equatable {}

/// Where an image came from.
///
/// ```swift
/// let loaded = try await images.image(at: "/films/42/poster")
/// let fadesIn = loaded.source == .network
/// ```
public enum ImageSource: Sendable {
    /// The loader's memory: the image had been decoded before.
    case memory
    /// The content came from the store of a `cache` in the chain, also if the server confirmed it with a 304.
    case cache
    /// The transport.
    case network
}
