// Recurrent networks. LibTorch lays its parameters out in one buffer and asks cuDNN where each matrix and
// bias lies in it, so that the layout must be consistent: all matrices, layer by layer and gate by gate, then
// all biases in the same order.
#include "cudnn/descriptors.h"
#include "symbols/export.h"

using namespace attnscope::vgpu::cudnn;

namespace {

struct Rnn {
    int algorithm = 0, cell = 0, bias_mode = 2, direction = 0, input_mode = 0;
    DataType type = DataType::fp32, precision = DataType::fp32;
    int math_type = 0;
    int32_t input = 0, hidden = 0, projection = 0, layers = 0;
    Dropout* dropout = nullptr;
    uint32_t flags = 0;

    int64_t directions() const { return direction == 1 ? 2 : 1; }
    int64_t pseudo_layers() const { return layers * directions(); }
    /// RNN 1, LSTM 4, GRU 3, each for the input and for the recurrent state.
    int64_t gates() const { return cell == 2 ? 4 : cell == 3 ? 3 : 1; }
    int64_t output() const { return projection > 0 ? projection : hidden; }
    bool projects() const { return cell == 2 && projection > 0 && projection != hidden; }
    int64_t matrices() const { return 2 * gates() + (projects() ? 1 : 0); }
    int64_t columns(int64_t layer, int64_t matrix) const {
        if (matrix == 2 * gates()) return hidden;
        if (matrix >= gates()) return output();
        return layer < directions() ? input : output() * directions();
    }
    int64_t rows(int64_t matrix) const { return matrix == 2 * gates() ? output() : hidden; }
    bool has_bias(int64_t matrix) const {
        if (matrix >= 2 * gates()) return false;
        bool of_input = matrix < gates();
        return bias_mode == 2 || (bias_mode == 1 && of_input) || (bias_mode == 3 && !of_input);
    }

    /// In elements. matrix == matrices() of the last layer gives the end of all matrices.
    int64_t matrix_offset(int64_t layer, int64_t matrix) const {
        int64_t offset = 0;
        for (int64_t l = 0; l <= layer; ++l)
            for (int64_t m = 0; m < (l == layer ? matrix : matrices()); ++m)
                offset += rows(m) * columns(l, m);
        return offset;
    }
    int64_t bias_offset(int64_t layer, int64_t matrix) const {
        int64_t offset = matrix_offset(pseudo_layers() - 1, matrices());
        for (int64_t l = 0; l <= layer; ++l)
            for (int64_t m = 0; m < (l == layer ? matrix : matrices()); ++m)
                offset += has_bias(m) ? hidden : 0;
        return offset;
    }
    int64_t elements() const { return bias_offset(pseudo_layers() - 1, matrices()); }
};

struct RnnData {
    DataType type = DataType::fp32;
    int layout = 0;
    int longest = 0, batch = 0, vector = 0;
};

Status run(const Context* handle, const char* function, const char* operation, const Rnn* rnn,
           const RnnData* x, std::vector<const void*> outputs) {
    static constexpr const char* cells[] = {"rnn_relu", "rnn_tanh", "lstm", "gru"};
    if (!usable(handle)) return not_initialized;
    if (!rnn || !x) return bad_param_null_pointer;
    return record(
        handle, function, operation,
        {text("cell", rnn->cell >= 0 && rnn->cell < 4 ? cells[rnn->cell] : "unknown"),
         number("input_size", rnn->input), number("hidden_size", rnn->hidden),
         number("projection_size", rnn->projects() ? rnn->projection : 0), number("layers", rnn->layers),
         number("bidirectional", rnn->direction == 1), number("batch", x->batch),
         number("sequence_length", x->longest), text("type", name(rnn->type))},
        std::move(outputs));
}

}  // namespace

ATTNSCOPE_EXPORT Status cudnnCreateRNNDescriptor(Rnn** rnn) {
    return create(rnn);
}
ATTNSCOPE_EXPORT Status cudnnDestroyRNNDescriptor(Rnn* rnn) {
    return destroy(rnn);
}
ATTNSCOPE_EXPORT Status cudnnSetRNNDescriptor_v8(Rnn* rnn, int algorithm, int cell, int bias_mode,
                                                 int direction, int input_mode, DataType type,
                                                 DataType precision, int math_type, int32_t input,
                                                 int32_t hidden, int32_t projection, int32_t layers,
                                                 Dropout* dropout, uint32_t flags) {
    if (!rnn) return bad_param_null_pointer;
    if (input <= 0 || hidden <= 0 || layers <= 0 || projection < 0 || projection > hidden || cell < 0 ||
        cell > 3)
        return bad_param;
    *rnn = {algorithm, cell,  bias_mode, direction,  input_mode, type,    precision,
            math_type, input, hidden,    projection, layers,     dropout, flags};
    return success;
}
ATTNSCOPE_EXPORT Status cudnnRNNSetClip_v8(Rnn* rnn, int, int, double, double) {
    return rnn ? success : bad_param_null_pointer;
}
ATTNSCOPE_EXPORT Status cudnnRNNSetClip_v9(Rnn* rnn, int, double, double) {
    return rnn ? success : bad_param_null_pointer;
}

ATTNSCOPE_EXPORT Status cudnnCreateRNNDataDescriptor(RnnData** data) {
    return create(data);
}
ATTNSCOPE_EXPORT Status cudnnDestroyRNNDataDescriptor(RnnData* data) {
    return destroy(data);
}
ATTNSCOPE_EXPORT Status cudnnSetRNNDataDescriptor(RnnData* data, DataType type, int layout, int longest,
                                                  int batch, int vector, const int* lengths, void*) {
    if (!data || !lengths) return bad_param_null_pointer;
    if (longest <= 0 || batch <= 0 || vector <= 0) return bad_param;
    *data = {type, layout, longest, batch, vector};
    return success;
}

/// What cuDNN would need for its work is not known, and nothing is computed: no space is asked for.
ATTNSCOPE_EXPORT Status cudnnGetRNNTempSpaceSizes(Context* handle, const Rnn* rnn, int, const RnnData*,
                                                  size_t* work, size_t* reserve) {
    if (!usable(handle) || !rnn) return bad_param;
    if (work) *work = 0;
    if (reserve) *reserve = 0;
    return success;
}
ATTNSCOPE_EXPORT Status cudnnGetRNNWeightSpaceSize(Context* handle, const Rnn* rnn, size_t* bytes) {
    if (!usable(handle) || !rnn || !bytes) return bad_param;
    *bytes = static_cast<size_t>(rnn->elements()) * size_of(rnn->type);
    return success;
}
/// Descriptors and addresses that are NULL are not wanted: LibTorch asks for the matrix and for the bias one
/// by one.
ATTNSCOPE_EXPORT Status cudnnGetRNNWeightParams(Context* handle, const Rnn* rnn, int32_t layer, size_t bytes,
                                                const void* weights, int32_t matrix,
                                                Tensor* matrix_descriptor, void** matrix_address,
                                                Tensor* bias_descriptor, void** bias_address) {
    if (!usable(handle) || !rnn) return bad_param;
    if (layer < 0 || layer >= rnn->pseudo_layers() || matrix < 0 || matrix > 2 * rnn->gates())
        return bad_param;
    if (bytes < static_cast<size_t>(rnn->elements()) * size_of(rnn->type)) return bad_param_size_insufficient;
    auto address = [&](bool exists, int64_t element) -> void* {
        if (!exists) return nullptr;
        return const_cast<char*>(static_cast<const char*>(weights)) +
               static_cast<size_t>(element) * size_of(rnn->type);
    };
    bool has_matrix = matrix < rnn->matrices(), has_bias = rnn->has_bias(matrix);
    int64_t rows = rnn->rows(matrix), columns = rnn->columns(layer, matrix), hidden = rnn->hidden;
    if (matrix_descriptor) *matrix_descriptor = {rnn->type, 0, {}, {}};
    if (matrix_descriptor && has_matrix)
        *matrix_descriptor = {rnn->type, 0, {1, rows, columns}, {rows * columns, columns, 1}};
    if (matrix_address)
        *matrix_address = address(has_matrix, has_matrix ? rnn->matrix_offset(layer, matrix) : 0);
    if (bias_descriptor) *bias_descriptor = {rnn->type, 0, {}, {}};
    if (bias_descriptor && has_bias) *bias_descriptor = {rnn->type, 0, {1, hidden, 1}, {hidden, 1, 1}};
    if (bias_address) *bias_address = address(has_bias, has_bias ? rnn->bias_offset(layer, matrix) : 0);
    return success;
}

ATTNSCOPE_EXPORT Status cudnnRNNForward(Context* h, const Rnn* rnn, int, const int32_t*, const RnnData* x,
                                        const void*, const RnnData*, void* y, const Tensor*, const void*,
                                        void* hy, const Tensor*, const void*, void* cy, size_t, const void*,
                                        size_t, void*, size_t, void* reserve) {
    return run(h, __func__, "rnn_forward", rnn, x, {y, hy, cy, reserve});
}
ATTNSCOPE_EXPORT Status cudnnRNNBackwardData_v8(Context* h, const Rnn* rnn, const int32_t*, const RnnData*,
                                                const void*, const void*, const RnnData* x, void* dx,
                                                const Tensor*, const void*, const void*, void* dhx,
                                                const Tensor*, const void*, const void*, void* dcx, size_t,
                                                const void*, size_t, void*, size_t, void* reserve) {
    return run(h, __func__, "rnn_backward_data", rnn, x, {dx, dhx, dcx, reserve});
}
ATTNSCOPE_EXPORT Status cudnnRNNBackwardWeights_v8(Context* h, const Rnn* rnn, int, const int32_t*,
                                                   const RnnData* x, const void*, const Tensor*, const void*,
                                                   const RnnData*, const void*, size_t, void* d_weights,
                                                   size_t, void*, size_t, void*) {
    return run(h, __func__, "rnn_backward_weights", rnn, x, {d_weights});
}
