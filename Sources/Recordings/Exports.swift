@_exported public import Interceptors
@_exported public import InterceptorsStubs
