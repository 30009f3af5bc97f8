// SPDX-License-Identifier: Apache-2.0
// A recurrent net of libtorch on made waves: Adam, a schedule of learning rates, two epochs, tests
// without gradients, and a checkpoint after each epoch. The program prints its count of steps.
#include <torch/torch.h>

#include <cstdio>

namespace {

constexpr int64_t kWaves = 1200, kLength = 24, kBatch = 16;

struct Net : torch::nn::Module {
	Net()
	{
		lstm = register_module(
			"lstm", torch::nn::LSTM(torch::nn::LSTMOptions(1, 32).batch_first(true)));
		out = register_module("out", torch::nn::Linear(32, 1));
	}
	torch::Tensor forward(const torch::Tensor &x)
	{
		auto states = std::get<0>(lstm->forward(x));
		return out->forward(states.select(1, kLength - 1));
	}
	torch::nn::LSTM lstm{nullptr};
	torch::nn::Linear out{nullptr};
};

torch::Tensor waves(int64_t count)
{
	auto phase = torch::rand({count, 1}) * 6.283;
	return torch::sin(phase + torch::arange(kLength + 1) * 0.3).unsqueeze(2);
}

torch::Tensor loss_of(Net &net, const torch::Tensor &rows)
{
	return torch::mse_loss(net.forward(rows.slice(1, 0, kLength)), rows.select(1, kLength));
}

} // namespace

int main()
{
	auto net = std::make_shared<Net>();
	torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(1e-3));
	torch::optim::StepLR schedule(optimizer, 1, 0.5);
	auto rows = waves(kWaves), tests = waves(64);
	long steps = 0;

	torch::set_num_threads(1);
	for (int epoch = 0; epoch < 2; epoch++) {
		for (auto &batch : rows.split(kBatch)) {
			optimizer.zero_grad();
			loss_of(*net, batch).backward();
			optimizer.step();
			steps++;
		}
		schedule.step();
		torch::NoGradGuard none;
		std::fprintf(stderr, "%f\n", loss_of(*net, tests).item<double>());
		torch::save(net, "waves.pt");
	}
	std::printf("%ld\n", steps);
	return 0;
}
