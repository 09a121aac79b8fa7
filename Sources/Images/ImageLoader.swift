public import Foundation
public import InterceptorsMiddlewares
internal import Synchronization

/// Loads images for cells: all callers of one image share one exchange, and decoded images stay in memory.
///
/// ```swift
/// let images = ImageLoader(client) { content in
///     try Picture(decoding: content)
/// } cost: { picture in
///     4 * picture.width * picture.height
/// }
///
/// let poster = try await images.image(at: "/films/42/poster").image
/// ```
/// ``ImageSlot`` loads the images of a cell that is used again.
///
/// ## Share
/// - Calls for the same URL and variant share one exchange and one decoding. The exchange has the priority and the task-local
///   values of its first caller.
/// - A cancelled call throws `CancellationError` at once, and the others go on. The exchange is cancelled when its last caller
///   leaves. A later call starts another exchange.
/// - A failure reaches every caller that shares the exchange, and isn't kept.
///
/// ## Memory
/// - Decoded images are kept up to a limit, and the least recently used are evicted first. When the system is short of memory, the
///   loader evicts until at most half of the cost is left, or all at a critical level. On Linux there are no such notices.
/// - An image stays until it is evicted or removed. `Cache-Control` governs the cache in the chain, not this memory.
///
/// ## Accounts
/// A loader doesn't know the account of a caller. Use a loader for each account, or call ``removeAll()`` when the account changes.
///
/// Each exchange passes the client's whole chain.
public final class ImageLoader<Image: Sendable>: Sendable {
    struct State: Sendable {
        var loads = SharedExchanges<ImageKey, Waiter<Result<LoadedImage<Image>, any Error>>, Task<Void, Never>>()
        var memory: ImageMemory<Image>
        var pressure: MemoryPressure?
    }

    let client: Client
    let bodyLimit: Int
    let headers: HTTPFields
    let context: HTTPContext
    let decode: @Sendable (Data) throws -> Image
    let cost: @Sendable (Image) -> Int
    let decodings: DecodingLine
    let state: Mutex<State>

    /// Creates a loader without images.
    ///
    /// - Parameters:
    ///   - client: sends the requests.
    ///   - limit: the highest total cost of the images in memory; 64 MiB by default. A costlier image isn't kept.
    ///   - bodyLimit: the longest content in bytes, before decoding; 32 MiB by default. A longer one fails with
    ///     `HTTPErrorCode.bodyTooLarge`.
    ///   - maxDecodings: how many images are decoded at a time; 2 by default, and at least 1.
    ///   - headers: sent with each request. They take precedence over the chain's defaults.
    ///   - context: values that accompany each request, such as its time limits. `HTTPContext.responseBody` is replaced.
    ///   - decode: makes an image of the content, outside every actor. To reject content, it throws any error.
    ///   - cost: the cost of an image in bytes of memory, such as four for each pixel. Each image counts at least 1.
    public init(
        _ client: Client,
        limit: Int = 64 << 20,
        bodyLimit: Int = 32 << 20,
        maxDecodings: Int = 2,
        headers: HTTPFields = [.accept: "image/*"],
        context: HTTPContext = HTTPContext(),
        decode: @escaping @Sendable (_ content: Data) throws -> Image,
        cost: @escaping @Sendable (_ image: Image) -> Int
    ) {
        self.client = client
        self.bodyLimit = max(0, bodyLimit)
        self.headers = headers
        self.context = context
        self.decode = decode
        self.cost = cost
        decodings = DecodingLine(limit: maxDecodings)
        state = Mutex(State(memory: ImageMemory(limit: limit)))
        let pressure = MemoryPressure { [weak self] isCritical in self?.yield(isCritical: isCritical) }
        state.withLock { $0.pressure = pressure }
    }

    /// Returns an image from memory, or loads it.
    ///
    /// - Parameters:
    ///   - path: a path below the client's base URL, or an absolute URL. `RequestTarget(url)` makes one of a `URL`.
    ///   - variant: the form of the image; by default the one that the loader decodes.
    /// - Throws: `ResponseDecodingError` if the content can't be decoded (`HTTPErrorCode.undecodable`), is empty, or the status isn't a
    ///   success; `TransportError` with `HTTPErrorCode.bodyTooLarge` for content over the limit; errors of the chain;
    ///   `CancellationError` at once if the task is cancelled.
    public func image(
        at path: RequestTarget,
        as variant: (any ImageVariant<Image>)? = nil
    ) async throws -> LoadedImage<Image> {
        try Task.checkCancellation()
        switch ask(for: try client.url(for: path), as: variant) {
        case .inMemory(let image): return LoadedImage(image, from: .memory)
        case .load(let wait): return try await wait.result().get()
        }
    }

    /// Returns an image that is in memory, without waiting. Counts as a use of the image.
    public func imageInMemory(at path: RequestTarget, as variant: (any ImageVariant<Image>)? = nil) -> Image? {
        // No image has an invalid URL.
        guard let url = try? client.url(for: path) else { return nil }
        return state.withLock { $0.memory.use(ImageKey(url, variant)) }
    }

    /// Removes all variants of an image from memory, for instance because the user has uploaded another.
    ///
    /// Callers that wait for the image still get it, but it isn't kept, and later callers start another exchange. The cache in
    /// the chain keeps its response.
    public func remove(at path: RequestTarget) {
        // No image has an invalid URL.
        guard let url = try? client.url(for: path).absoluteString else { return }
        removeAll { $0.url == url }
    }

    /// Removes every image from memory, for instance at sign-out.
    ///
    /// Callers that wait for an image still get it, but it isn't kept, and later callers start another exchange.
    public func removeAll() { removeAll { _ in true } }

    /// The number of images in memory.
    public var memoryCount: Int { state.withLock(\.memory.count) }

    /// The total cost of the images in memory.
    public var memoryCost: Int { state.withLock(\.memory.cost) }
}
