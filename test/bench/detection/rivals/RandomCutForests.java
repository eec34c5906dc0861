import com.amazon.randomcutforest.config.TransformMethod;
import com.amazon.randomcutforest.parkservices.ThresholdedRandomCutForest;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A thresholded random cut forest a series, with a shingle of 8: with its `defaults`, or with 50 trees of 256 samples and
 * `normalised` values. Two files of little-endian doubles. Read: for each series its rows, its channels and the values
 * row by row. Written: observations (values) for each second of processor time, bytes a series (heap, of one channel),
 * and for each row a score and 1 where the anomaly grade is above 0.
 */
public class RandomCutForests {
    private static ThresholdedRandomCutForest forest(String settings, int channels) {
        var builder = ThresholdedRandomCutForest.builder().dimensions(8 * channels).shingleSize(8).randomSeed(42);
        if (settings.equals("normalised")) {
            builder.numberOfTrees(50).sampleSize(256).transformMethod(TransformMethod.NORMALIZE);
        }
        return builder.build();
    }

    public static void main(String[] args) throws Exception {
        ByteBuffer in = ByteBuffer.wrap(Files.readAllBytes(Path.of(args[0]))).order(ByteOrder.LITTLE_ENDIAN);
        ByteBuffer out = ByteBuffer.allocate(16 + 2 * in.remaining()).order(ByteOrder.LITTLE_ENDIAN);
        out.putDouble(0).putDouble(bytesOfOne(args[2]));
        var system = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        // Until here the virtual machine warms up.
        int warm = in.remaining() / 4;
        long begunNanos = 0;
        long measured = 0;
        while (in.hasRemaining()) {
            int rows = (int) in.getDouble();
            int channels = (int) in.getDouble();
            ThresholdedRandomCutForest forest = forest(args[2], channels);
            double[] point = new double[channels];
            for (int row = 0; row < rows; row++) {
                if (begunNanos == 0 && in.position() >= warm) begunNanos = system.getProcessCpuTime();
                for (int channel = 0; channel < channels; channel++) {
                    double value = in.getDouble();
                    // A value that is missing repeats.
                    if (!Double.isNaN(value)) point[channel] = value;
                }
                var result = forest.process(point.clone(), row * 60L);
                out.putDouble(result.getRCFScore()).putDouble(result.getAnomalyGrade() > 0 ? 1 : 0);
                if (begunNanos != 0) measured += channels;
            }
        }
        out.putDouble(0, measured * 1e9 / Math.max(1, system.getProcessCpuTime() - begunNanos));
        out.flip();
        byte[] bytes = new byte[out.remaining()];
        out.get(bytes);
        Files.write(Path.of(args[1]), bytes);
    }

    /** Of forests that are full. */
    private static double bytesOfOne(String settings) {
        int count = 40;
        ThresholdedRandomCutForest[] forests = new ThresholdedRandomCutForest[count];
        long before = used();
        for (int i = 0; i < count; i++) {
            forests[i] = forest(settings, 1);
            for (int row = 0; row < 600; row++) forests[i].process(new double[] {Math.sin(row) + i}, row * 60L);
        }
        double bytes = (double) (used() - before) / count;
        return forests[count - 1] == null ? 0 : bytes;
    }

    private static long used() {
        for (int i = 0; i < 4; i++) System.gc();
        Runtime runtime = Runtime.getRuntime();
        return runtime.totalMemory() - runtime.freeMemory();
    }
}
