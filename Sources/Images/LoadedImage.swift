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
public struct ImageSource: Sendable, Hashable, CustomStringConvertible {
    private enum Code: String {
        case memory
        case cache
        case network
    }

    private let code: Code
    /// The name of the source, such as `memory`.
    public var description: String { code.rawValue }
    /// The loader's memory: the image had been decoded before.
    public static var memory: Self { Self(code: .memory) }
    /// The content came from the store of a `cache` in the chain, also if the server confirmed it with a 304.
    public static var cache: Self { Self(code: .cache) }
    /// The transport.
    public static var network: Self { Self(code: .network) }

    /// The source of a response's content.
    init(of response: HTTPResponse) {
        self = response.context.cacheOutcome?.result.isStored == true ? .cache : .network
    }

    private init(code: Code) { self.code = code }
}
