public import InterceptorsMiddlewares

/// The place for one image at a time, such as that of a cell: each load drops the earlier one.
///
/// ```swift
/// @MainActor final class PosterCell {
///     private let slot = ImageSlot<Picture>()
///     private var picture: Picture?
///
///     func show(_ film: Film) {
///         picture = nil                                   // or a placeholder
///         slot.load(at: "/films/\(film.id)/poster", from: images) { [weak self] result in
///             self?.picture = try? result.get().image
///         }
///     }
///
///     func prepareForReuse() { slot.cancel() }
/// }
/// ```
/// An earlier image never appears after a later load began, however late it comes. A dropped load stops waiting for its exchange,
/// which goes on while others wait. Loading the same image again keeps the running exchange. A slot that ends drops its load.
@MainActor
public final class ImageSlot<Image: Sendable> {
    private var wait: ImageWait<Image>?
    // Changed by each load and by `cancel()`; a result counts only if its load's number is still this one.
    private var number = 0

    /// Creates an empty slot.
    public nonisolated init() {}

    deinit { wait?.leave() }

    /// Loads an image in place of an earlier one.
    ///
    /// - Parameters:
    ///   - path: a path below the client's base URL, or an absolute URL.
    ///   - loader: the loader that keeps and loads the image.
    ///   - variant: the form of the image; by default the one that the loader decodes.
    ///   - receive: called once with the image or the error of ``ImageLoader/image(at:as:)``, and never if the
    ///     load is dropped. For an image in memory or an invalid URL, it is called before this method returns.
    public func load(
        at path: RequestTarget,
        from loader: ImageLoader<Image>,
        as variant: (any ImageVariant<Image>)? = nil,
        receive: @escaping @MainActor (Result<LoadedImage<Image>, any Error>) -> Void
    ) {
        let answer: ImageLoader<Image>.Answer
        do {
            answer = try begin(path, loader, variant)
        } catch {
            return receive(.failure(error))
        }
        switch answer {
        case .inMemory(let image): receive(.success(LoadedImage(image, from: .memory)))
        case .load(let wait):
            let number = number
            Task { [weak self] in
                let result = await wait.result()
                guard let self, end(number) else { return }
                receive(result)
            }
        }
    }

    /// Loads an image in place of an earlier one, and returns it.
    ///
    /// - Parameters:
    ///   - path: a path below the client's base URL, or an absolute URL.
    ///   - loader: the loader that keeps and loads the image.
    ///   - variant: the form of the image; by default the one that the loader decodes.
    /// - Throws: the errors of ``ImageLoader/image(at:as:)``; `CancellationError` if the load is dropped.
    public func image(
        at path: RequestTarget,
        from loader: ImageLoader<Image>,
        as variant: (any ImageVariant<Image>)? = nil
    ) async throws -> LoadedImage<Image> {
        try Task.checkCancellation()
        switch try begin(path, loader, variant) {
        case .inMemory(let image): return LoadedImage(image, from: .memory)
        case .load(let wait):
            let number = number
            let result = await wait.result()
            guard end(number) else { throw CancellationError() }
            return try result.get()
        }
    }

    /// Drops the load, if there is one. Its closure isn't called.
    public func cancel() {
        number += 1
        let earlier = wait
        wait = nil
        earlier?.leave()
    }

    private func begin(
        _ path: RequestTarget,
        _ loader: ImageLoader<Image>,
        _ variant: (any ImageVariant<Image>)?
    ) throws -> ImageLoader<Image>.Answer {
        // The earlier wait ends after the new one has begun, so that an exchange for the same image goes on.
        let earlier = wait
        defer { earlier?.leave() }
        number += 1
        wait = nil
        let answer = loader.ask(for: try loader.client.url(for: path), as: variant)
        if case .load(let new) = answer { wait = new }
        return answer
    }

    /// Ends a load, unless a later one has dropped it.
    private func end(_ load: Int) -> Bool {
        guard load == number else { return false }
        wait = nil
        return true
    }
}
