// On Linux, this folder is a module of its own.
#if canImport(FoundationNetworking)
@_exported public import InterceptorsTransport
#endif
